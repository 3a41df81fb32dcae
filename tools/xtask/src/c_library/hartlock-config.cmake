# The C library of Hartlock beside this file, as the target hartlock::hartlock.

if(NOT TARGET hartlock::hartlock)
  add_library(hartlock::hartlock STATIC IMPORTED)
  set_target_properties(hartlock::hartlock PROPERTIES
    IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/libhartlock.a"
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}"
    # It removes what is not used, and with it the panic handler, which needs a symbol that nobody has.
    INTERFACE_LINK_OPTIONS "LINKER:--gc-sections")
endif()
