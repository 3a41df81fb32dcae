import cocotb
@cocotb.test()
async def nothing(dut): pass
