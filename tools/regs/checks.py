"""The assertions of a register block: what the description promises about every access, whoever wrote the RTL."""

from __future__ import annotations

import re

from systemrdl.node import AddrmapNode

from model import Register, Unsupported, read


# The names are those of PeakRDL: `decoded_req` is an access that is carried out, `cpuif_rd_ack` and `cpuif_wr_ack` its
# answer, which waits in a buffer until the bus takes it.
TEXT = """
    //--------------------------------------------------------------------------
    // Assertions
    //--------------------------------------------------------------------------
`ifndef SYNTHESIS
    // Before the first reset no rule holds: registers have any value, and the clock may rise.
    logic live_q;
    initial live_q = 1'b0;
    always_ff @(posedge clk_i or negedge rst_ni) if(~rst_ni) live_q <= 1'b1;

    // These are the registers that an access selects.
    logic [{last}:0] selected;
    always_comb begin
{selected}
    end

    // This function gives the bits that software can read at an address, from the description.
    function automatic logic [31:0] readable(logic [11:0] address);
        case (address) inside
{readable}
            default: return '0;
        endcase
    endfunction
`endif

    // No address belongs to two registers, and a register changes or shows its value in an access only.
    `ASSERT(OneRegisterIsSelected_A, live_q |-> $onehot0(selected))
    `ASSERT(NothingIsSelectedUnasked_A, live_q & !decoded_req |-> selected == '0)
    // A refused access has no effect, and any other one reaches a register.
    `ASSERT(ARefusedAccessSelectsNothing_A, live_q & decoded_req |-> decoded_err == (selected == '0))
    // A refused read shows nothing, and any other one only the fields of its register.
    `ASSERT(ARefusedReadShowsNothing_A, live_q & cpuif_rd_ack & cpuif_rd_err |-> cpuif_rd_data == '0)
    `ASSERT(ReservedBitsReadZero_A, live_q & cpuif_rd_ack & !cpuif_rd_err |->
            (cpuif_rd_data & ~readable(rd_mux_addr)) == '0)
    // Each access has one answer: the buffer stores one in a cycle, and has room for those that are on their way.
    `ASSERT(EveryAccessIsAnswered_A, live_q & decoded_req{internal} |-> cpuif_rd_ack | cpuif_wr_ack)
    `ASSERT(OneAnswerAtATime_A, live_q |-> !(cpuif_rd_ack & cpuif_wr_ack))
    `ASSERT(AnswersAreCounted_A, live_q |-> {bits}'(axil_resp_wptr - axil_resp_rptr) <= axil_n_in_flight)
"""

# A register outside of the block answers for itself.
EXTERNAL = """\
    // A register outside of the block answers an access of its own, and nothing else.
    `ASSERT(NoAnswerUnasked_A, live_q & (external_wr_ack | external_rd_ack) |->
            external_pending | decoded_req_is_external)
"""
# The assertions of PeakRDL say the same, and fail before the first reset.
IMMEDIATE = re.compile(r" *`ifndef SYNTHESIS\n( *assert_bad_ext_\w+: assert\(.*\n *else .*\n)+ *`endif\n")


def added(block: str, node: AddrmapNode) -> str:
    """A register block with its assertions."""
    strobes, = re.findall(r"typedef struct \{([^{}]*)\} decoded_reg_strb_t;", block)
    lines, count = [], 0
    for strobe in strobes.split(";")[:-1]:
        found = re.fullmatch(r"\s*logic (\w+)(?:\[(\d+)\])?", strobe)
        if found is None:
            raise Unsupported(f"a strobe of {node.inst_name}: {strobe.strip()}")
        name, length = found.groups()
        if length is None:
            lines.append(f"selected[{count}] = decoded_reg_strb.{name};")
            count += 1
        else:
            element = f"selected[{count} + i] = decoded_reg_strb.{name}[i];"
            lines.append(f"for(int i=0; i<{length}; i++) {element}")
            count += int(length)
    has_external = "decoded_req_is_external" in block
    bits, = re.findall(r"logic \[(\d+):0\] axil_n_in_flight;", block)
    registers = read(node, node.inst_name).registers
    text = TEXT.format(
        last=count - 1,
        selected="\n".join(f"        {line}" for line in lines),
        readable="\n".join(f"            {line}" for one in registers for line in readable(one)),
        internal=" & ~decoded_req_is_external" if has_external else "",
        bits=int(bits) + 1,
    )
    if has_external:
        block, text = IMMEDIATE.sub("", block), text + EXTERNAL
    body = block.removesuffix("endmodule\n").rstrip()
    return f'`include "assert.svh"\n\n{body}\n{text}endmodule\n'


def readable(register: Register) -> list[str]:
    """The arms of a case: the bits that can be read of a register, at each of its addresses."""
    mask = sum(field.mask for field in register.fields if field.readable)
    if not mask:
        return []
    count = register.count or 1
    if register.stride != 4:
        places = [f"12'h{register.offset + i * register.stride:03x}" for i in range(count)]
    elif count > 1:
        last = register.offset + (count - 1) * 4
        places = [f"[12'h{register.offset:03x}:12'h{last:03x}]"]
    else:
        places = [f"12'h{register.offset:03x}"]
    return [f"{place}: return 32'h{mask:08x};" for place in places]
