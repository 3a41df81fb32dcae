#include "ram.h"

#include <elf.h>
#include <sys/mman.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

std::vector<std::uint8_t> read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw std::runtime_error("cannot open " + path);
    }
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_file(const std::string& path, const std::uint8_t* bytes, std::size_t count) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(count));
    file.close();
    if (!file) {
        throw std::runtime_error("cannot write " + path);
    }
}

Ram::Ram(std::uint64_t size) : size_(size) {
    if (size == 0 || size > kSize) {
        throw std::runtime_error("memory has 1 byte to 2 GiB");
    }
    void* pages = mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
        throw std::runtime_error("cannot reserve 2 GiB of addresses for the memory");
    }
    bytes_ = static_cast<std::uint8_t*>(pages);
}

Ram::~Ram() { munmap(bytes_, kSize); }

bool Ram::has(std::uint64_t address) const {
    return address >= kStart && address - kStart < size_;
}

// Addresses were checked, and beats are aligned, so the mask changes nothing.
void Ram::read(std::uint64_t address, std::uint8_t* out, std::uint32_t count) {
    std::memcpy(out, bytes_ + (address & (kSize - 1)), count);
}

void Ram::write(std::uint64_t address, const std::uint8_t* data, std::uint32_t count) {
    std::memcpy(bytes_ + (address & (kSize - 1)), data, count);
}

std::uint64_t Ram::load_program(const std::string& path) {
    const std::vector<std::uint8_t> file = read_file(path);
    Elf64_Ehdr header;
    if (file.size() < sizeof header || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0) {
        put(kStart, file.data(), file.size(), path);
        return kStart;
    }
    std::memcpy(&header, file.data(), sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_RISCV) {
        throw std::runtime_error(path + " is no program for 64-bit RISC-V");
    }
    for (std::uint64_t index = 0; index < header.e_phnum; index += 1) {
        const std::uint64_t at = header.e_phoff + index * sizeof(Elf64_Phdr);
        Elf64_Phdr segment;
        if (at > file.size() || file.size() - at < sizeof segment) {
            throw std::runtime_error(path + " is cut off");
        }
        std::memcpy(&segment, file.data() + at, sizeof segment);
        if (segment.p_type != PT_LOAD) {
            continue;
        }
        if (segment.p_offset > file.size() || file.size() - segment.p_offset < segment.p_filesz) {
            throw std::runtime_error(path + " is cut off");
        }
        put(segment.p_paddr, file.data() + segment.p_offset, segment.p_filesz, path);
    }
    return header.e_entry;
}

void Ram::load_file(const std::string& path, std::uint64_t address) {
    const std::vector<std::uint8_t> file = read_file(path);
    put(address, file.data(), file.size(), path);
}

void Ram::save(const std::string& path, std::uint64_t address, std::uint64_t count) const {
    if (address < kStart || address - kStart > size_ || size_ - (address - kStart) < count) {
        throw std::runtime_error("memory does not have what " + path + " is for");
    }
    write_file(path, bytes_ + (address - kStart), count);
}

void Ram::put(std::uint64_t address, const std::uint8_t* data, std::uint64_t count,
              const std::string& path) {
    if (address < kStart || address - kStart > size_ || size_ - (address - kStart) < count) {
        throw std::runtime_error(path + " does not fit into memory");
    }
    std::memcpy(bytes_ + (address - kStart), data, count);
}
