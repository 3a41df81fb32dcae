# What is compiled into OpenSBI: it is in the folder `hartlock` of OpenSBI's generic platform.

platform-objs-y += hartlock/system_map.o
carray-fdt_early_drivers-y += hartlock_system_map
