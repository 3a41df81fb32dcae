use std::vec;
use std::vec::Vec;

use super::*;
use crate::trapped::{RegisterAccess, with_registers, writes_to};

#[test]
fn a_part_is_inside_of_its_region_and_aligned() {
    let region = (0x4000_0000, 0x4000_4000);
    assert_eq!(part(region, 0x1000, 0x38), Some((0x4000_1000, 0x4000_1038)));
    assert_eq!(part(region, 0, 0x4000), Some(region));
    for (offset, len) in
        [(0, 0x4001), (0x4000, 1), (4, 8), (usize::MAX - 7, 16), (8, usize::MAX - 7)]
    {
        assert_eq!(part(region, offset, len), None, "{offset:#x} {len:#x}");
    }
    assert_eq!(part((0, 0), 0, 0), None, "a BAR that is not there");
}

/// Reads the block device of a configuration space in memory, in which every BAR reads back as written.
fn bus(capabilities: &[(usize, [u32; 5])]) -> Result<Pci, Error> {
    let mut config = vec![0_u32; FUNCTIONS << (FUNCTION_SHIFT - 2)];
    config[ID / 4] = DISK;
    config[CAPABILITIES / 4] = 0x40;
    for (at, words) in capabilities {
        config[at / 4..at / 4 + 5].copy_from_slice(words);
    }
    let base = config.as_mut_ptr().expose_provenance();
    // SAFETY: only this test uses the memory, and the registers are not accessed.
    let result = unsafe { PciBus::new(base, (0x1_0000, 0x2_0000)) }.block(0);
    drop(config);
    result
}

#[test]
fn what_a_device_says_of_its_registers_is_checked() {
    let capability =
        |next: u32, kind: u32, bar, offset, len| [kind << 24 | next << 8 | 9, bar, offset, len, 0];
    // The smallest memory BARs have 16 bytes, which is too small for a common configuration.
    let right = [(0x40, capability(0x60, 1, 0, 0, 16)), (0x60, capability(0, 2, 1, 0, 16))];
    assert_eq!(bus(&right).err(), Some(Error::Unusable));
    // A list that leads back to itself ends.
    assert_eq!(bus(&[(0x40, capability(0x40, 1, 0, 0, 16))]).err(), Some(Error::Unusable));
    // The cases are a BAR that does not exist and a range past the end of its BAR.
    for (bar, offset, len) in [(6, 0, 16), (255, 0, 16), (0, 8, 16), (0, !7, 16)] {
        let outside = [(0x40, capability(0, 1, bar, offset, len))];
        assert_eq!(bus(&outside).err(), Some(Error::Unusable), "{bar} {offset:#x} {len}");
    }
    assert_eq!(bus(&[]).err(), Some(Error::Unusable));
}

/// Returns what a bus says whose only device, in this function, has this id, class and header type.
fn check(function: usize, id: u32, class: u32, header_type: u32) -> Result<(), Error> {
    let mut config = vec![u32::MAX; FUNCTIONS << (FUNCTION_SHIFT - 2)];
    let at = function << (FUNCTION_SHIFT - 2);
    config[at..at + 64].fill(0);
    config[at] = id;
    config[at + CLASS / 4] = class << 16 | 1;
    config[at + HEADER_TYPE / 4] = header_type << 16;
    let base = config.as_mut_ptr().expose_provenance();
    // SAFETY: only this test uses the memory, and no registers are accessed, because none are found.
    let result = unsafe { PciBus::new(base, (0x1_0000, 0x2_0000)) }.disable_all();
    assert_eq!(config[at + COMMAND / 4] & 0xffff, 1 << 10, "it is not disabled");
    result
}

#[test]
fn every_function_of_a_bus_is_looked_at() {
    for function in [0, 1, 7, 8, 15, 24, 254, 255] {
        // These are a host bridge, a device of another vendor with the number of a disk, and a number that no virtio
        // device has.
        for id in [0x0008_1b36, 0x1042_1af5, 0x0fff_1af4, 0x1080_1af4] {
            assert_eq!(check(function, id, 0x0805, 0), Ok(()), "{function} {id:#x}");
        }
        // These are the first and the last transitional device, and a device of any kind behind a bridge.
        for (id, header_type) in
            [(0x1000_1af4, 0), (0x103f_1af4, 0x80), (0x0008_1b36, 1), (0x1042_1af4, 1)]
        {
            assert_eq!(check(function, id, 0, header_type), Err(Error::Unguarded), "{id:#x}");
        }
        // An IOMMU of any vendor, and that of virtio, whose class QEMU leaves open.
        for (id, class) in [(0x0014_1b36, 0x0806), (0x1042_1af4, 0x0806), (0x1057_1af4, 0x00ff)] {
            assert_eq!(check(function, id, class, 0), Err(Error::Unguarded), "{id:#x}");
        }
        // A modern device whose registers are not found cannot say that it is guarded.
        for id in [0x1040_1af4, 0x1041_1af4, 0x1042_1af4, 0x107f_1af4] {
            assert_eq!(check(function, id, 0x0100, 0), Err(Error::Unusable), "{function} {id:#x}");
        }
    }
}

/// Vendor and number of a modern block device.
const DISK: u32 = 0x1042_1af4;

/// A function of a bus, with its BARs as pairs of type and size, and words of its configuration space.
struct Function<'a> {
    number: usize,
    bars: [(u32, u32); BAR_COUNT],
    words: &'a [(usize, u32)],
}

/// Calls `act` with a bus of these functions and with `memory` for their registers. Returns its result, and what was
/// written to the bus, as triples of function, offset and value.
fn with_bus<T>(
    functions: &[Function<'_>],
    memory: (usize, usize),
    act: impl FnOnce(&mut PciBus) -> T,
) -> (T, Vec<(usize, usize, u32)>) {
    let mut writes = Vec::new();
    let mut is_set = false;
    let model = |access: RegisterAccess, config: &mut [u32]| {
        if !core::mem::replace(&mut is_set, true) {
            config.fill(NO_DEVICE);
            for it in functions {
                let config = &mut config[it.number << 10..][..1024];
                config.fill(0);
                it.words.iter().for_each(|(at, word)| config[at / 4] = *word);
                it.bars.iter().enumerate().for_each(|(index, (kind, _))| config[4 + index] = *kind);
            }
        }
        let RegisterAccess::Write(at) = access else { return };
        let (number, at) = (at >> FUNCTION_SHIFT, at & 0xfff);
        let word = &mut config[(number << 10) + at / 4];
        writes.push((number, at, *word));
        let Some(it) = functions.iter().find(|it| it.number == number) else { return };
        if let Some((kind, size)) = at.checked_sub(BARS).and_then(|at| it.bars.get(at / 4)) {
            // A size of all ones is that of the upper half of a wide BAR.
            *word = if *size == !0 { *word } else { *word & size.wrapping_neg() & !0xf | kind };
        }
    };
    let result = with_registers(FUNCTIONS << 10, model, |base| {
        // SAFETY: only this bus uses the configuration space and the memory.
        act(&mut unsafe { PciBus::new(base.expose_provenance(), memory) })
    });
    (result, writes)
}

/// Ports, narrow memory, wide memory in two words, nothing, and a mask that is not one of a size.
const BAR_KINDS: [(u32, u32); BAR_COUNT] =
    [(1, 0x20), (0, 0x1000), (0xc, 0x4000), (0, !0), (0, 0), (0, 0x5000)];

/// A capability of a device: where it is and the next one, the type of its structure, and BAR, offset and length.
fn capability(at: usize, next: u32, kind: u32, place: [u32; 3]) -> [(usize, u32); 5] {
    let [bar, offset, len] = place;
    [kind << 24 | next << 8 | 9, bar, offset, len, 4].map({
        let mut at = at - 4;
        move |word| {
            at += 4;
            (at, word)
        }
    })
}

/// Returns the configuration space of a disk with structures of these lengths.
fn disk(id: u32, common: u32, device: u32) -> Vec<(usize, u32)> {
    let mut words = vec![
        (ID, id),
        (HEADER_TYPE & !3, 0x80 << 16),
        // Bits 1 and 0 of a pointer mean nothing.
        (CAPABILITIES, 0x43),
        // A capability of another kind, with what would be the type of a structure.
        (0x40, 1 << 24 | 0x50 << 8 | 0x11),
    ];
    words.extend(capability(0x50, 0x64, 1, [2, 0, common]));
    // Only the first structure of a type counts, and other types mean nothing.
    words.extend(capability(0x64, 0x78, 1, [1, 0, 0x1000]));
    words.extend(capability(0x78, 0x8c, 8, [9, 0, 0]));
    words.extend(capability(0x8c, 0xa0, 2, [2, 0x3000, 0x1000]));
    words.extend(capability(0xa0, 0x3c, 4, [2, 0x2000, device]));
    words
}

/// Memory for registers of devices, all of whose words are 3.
fn memory() -> (Vec<u32>, (usize, usize)) {
    let mut memory = vec![3_u32; 0x4000];
    let range = memory.as_mut_ptr_range();
    (memory, (range.start.expose_provenance(), range.end.expose_provenance()))
}

#[test]
fn a_disk_gets_addresses_and_is_enabled() {
    let (_kept, (start, end)) = memory();
    let disk = disk(DISK, 0x38, 8);
    let device = Function { number: 24, bars: BAR_KINDS, words: &disk };
    let ((pci, left), writes) =
        with_bus(&[device], (start, end), |bus| (bus.block(3).unwrap(), bus.memory));
    let narrow = start.next_multiple_of(0x1000);
    let wide = (narrow + 0x1000).next_multiple_of(0x4000);
    assert_eq!(left, (wide + 0x4000, end));
    assert_eq!((pci.common, pci.device), (wide, wide + 0x2000));
    assert_eq!((pci.notify, pci.notify_unit), ((wide + 0x3000, wide + 0x4000), 4));
    let (low, high) = (wide as u32, (wide as u64 >> 32) as u32);
    let wanted = [
        (0x14, !0),
        (0x14, narrow as u32),
        (0x18, !0),
        (0x18, low),
        (0x1c, high),
        (0x20, !0),
        (0x20, 0),
        (0x24, !0),
        (0x24, 0),
        (COMMAND, 0x406),
    ];
    assert_eq!(writes, wanted.map(|(at, word)| (24, at, word)));
}

#[test]
fn a_disk_that_cannot_be_used_is_refused() {
    let (_kept, (start, end)) = memory();
    let block = |header_type: u32, id, lens: (u32, u32), memory| {
        let mut words = disk(id, lens.0, lens.1);
        words[1].1 = header_type << 16;
        let device = Function { number: 8, bars: BAR_KINDS, words: &words };
        with_bus(&[device], memory, |bus| bus.block(1).map(|_| bus.memory.0)).0
    };
    let whole = (0x38, 8);
    let used = block(0, DISK, whole, (start, end)).unwrap();
    assert_eq!(block(0, DISK, whole, (start, used)), Ok(used));
    let refused = [
        (block(1, DISK, whole, (start, end)), Error::NotThere),
        (block(0, 0x1043_1af4, whole, (start, end)), Error::NotThere),
        (block(0, DISK, (0x37, 8), (start, end)), Error::Unusable),
        (block(0, DISK, (0x38, 7), (start, end)), Error::Unusable),
        (block(0, DISK, whole, (start, used - 1)), Error::Unusable),
    ];
    for (index, (result, error)) in refused.into_iter().enumerate() {
        assert_eq!(result, Err(error), "{index}");
    }
}

#[test]
fn addresses_do_not_wrap() {
    let place = |start| {
        let bars = [(0, 0x1000), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0)];
        let device = Function { number: 0, bars, words: &[] };
        with_bus(&[device], (start, usize::MAX), |bus| bus.place_bars(0)).0.map(|it| it[0])
    };
    assert_eq!(place(usize::MAX - 0x1fff), Ok((usize::MAX - 0x1fff, usize::MAX - 0xfff)));
    // The end wraps, and then the start.
    assert_eq!(place(usize::MAX - 0xfff), Err(Error::Unusable));
    assert_eq!(place(usize::MAX - 0xffe), Err(Error::Unusable));
}

#[test]
fn a_device_that_is_guarded_is_accessed_while_all_are_disabled() {
    for (features, wanted) in [(3, Ok(())), (1, Err(Error::Unguarded)), (2, Err(Error::Unguarded))]
    {
        let (mut kept, range) = memory();
        kept.fill(features);
        let words = disk(0x1041_1af4, 0x38, 8);
        let devices = [
            Function { number: 9, bars: BAR_KINDS, words: &words },
            Function { number: 255, bars: BAR_KINDS, words: &[] },
        ];
        let (result, mut writes) = with_bus(&devices, range, PciBus::disable_all);
        assert_eq!(result, wanted);
        writes.retain(|(_, at, _)| *at == COMMAND);
        let wanted = [(9, 0x400), (255, 0x400), (9, 0x402), (9, 0x400)];
        assert_eq!(writes, wanted.map(|(function, word)| (function, COMMAND, word)));
        assert!(kept.contains(&1), "the second word of features is not selected");
    }
}

/// Returns a device whose registers are at this address: the common configuration, from 0x100 on those of the device, and
/// from 0x200 on those for notifications.
fn device_at(base: *mut u32, notify_unit: usize) -> Pci {
    let common = base.expose_provenance();
    let notify = (common + 0x200, common + 0x210);
    Pci { common, notify, notify_unit, device: common + 0x100 }
}

#[test]
fn registers_are_written_in_the_order_that_the_device_needs() {
    let registers = [(DEVICE_FEATURE, 3), (QUEUE_SIZE, 0xffff_0123), (0x100, 5), (0x104, 6)];
    let (got, writes) = writes_to(&registers, |base| {
        let device = device_at(base, 2);
        device.set_status(0xfff);
        let got = (device.is_block(), device.status(), device.take_features());
        let more = (device.queue_limit(), device.config(0), device.config(4));
        device.set_queue(32, [0x1_0000_0002, 0x3_0000_0004, 0x5_0000_0006]);
        (got, more)
    });
    assert_eq!(got, ((true, 0xff, Ok(true)), (0x123, 5, 6)));
    let wanted = [
        (STATUS, 0xff),
        (DEVICE_FEATURE_SELECT, 1),
        (DRIVER_FEATURE_SELECT, 0),
        (DRIVER_FEATURE, 0),
        (DRIVER_FEATURE_SELECT, 1),
        (DRIVER_FEATURE, 3),
        (QUEUE_SELECT, 0),
        (MSIX_VECTOR, 0xffff),
        (QUEUE_MSIX_VECTOR, 0xffff),
        (QUEUE_SIZE, 32),
        (0x20, 2),
        (0x24, 1),
        (0x28, 4),
        (0x2c, 3),
        (0x30, 6),
        (0x34, 5),
        (QUEUE_ENABLE, 1),
    ];
    // Some registers have 16 bits, and none that is written needs more of the first word.
    let mask = |(at, word): (usize, u32)| (at, if at < 0x20 { word & 0xffff } else { word });
    assert_eq!(writes.into_iter().map(mask).collect::<Vec<_>>(), wanted);
}

#[test]
fn a_device_without_the_features_gets_none() {
    for features in [0, 1, 2] {
        let (got, writes) =
            writes_to(&[(DEVICE_FEATURE, features)], |base| device_at(base, 2).take_features());
        assert_eq!((got, writes), (Err(Error::Unguarded), vec![(DEVICE_FEATURE_SELECT, 1)]));
    }
}

#[test]
fn a_notification_stays_in_its_area() {
    for (offset, unit, place) in [
        (0, 4, Some(0x200)),
        (3, 4, Some(0x20c)),
        (7, 2, Some(0x20e)),
        (1, 14, Some(0x20e)),
        (1, 15, None),
        (1, 16, None),
        (1, 1, None),
        (8, 2, None),
        // This offset wraps to two bytes before the area.
        (2, usize::MAX, None),
    ] {
        let ((), writes) = writes_to(&[(QUEUE_SELECT, 0), (QUEUE_ENABLE, offset << 16)], |base| {
            device_at(base, unit).notify();
        });
        let places: Vec<usize> = writes.iter().map(|(at, _)| *at).collect();
        assert_eq!(places, Vec::from_iter(place), "{offset} {unit:#x}");
    }
}
