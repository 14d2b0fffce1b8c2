//! Whether a program is for the machine that it is said to be for.

use anyhow::{Context, Result, ensure};

use super::target::Cpu;

const MAGIC: &[u8] = b"\x7fELF";
/// 64 bits, little-endian.
const CLASS_AND_DATA: [u8; 2] = [2, 1];
/// Offset and values of `e_machine`.
const MACHINE_AT: usize = 18;
const MACHINE_X86_64: u16 = 62;
const MACHINE_AARCH64: u16 = 183;
/// Offsets of the program header table's place, entry size and count.
const TABLE_AT: usize = 32;
const ENTRY_SIZE_AT: usize = 54;
const ENTRIES_AT: usize = 56;
/// The program header that names a dynamic loader.
const PT_INTERP: u32 = 3;

/// # Errors
/// The program is for another processor, or it needs a loader although it should be static.
pub(super) fn check(program: &[u8], cpu: Cpu, is_static: bool) -> Result<()> {
    ensure!(program.starts_with(MAGIC), "not an ELF file");
    ensure!(program.get(4..6) == Some(&CLASS_AND_DATA), "not 64 bits, little-endian");
    let wanted = match cpu {
        Cpu::Aarch64 => MACHINE_AARCH64,
        Cpu::X86_64 => MACHINE_X86_64,
    };
    let machine = u16::from_le_bytes(bytes(program, MACHINE_AT)?);
    ensure!(machine == wanted, "for machine {machine}, not {wanted}");
    let loader = has_loader(program)?;
    ensure!(!(is_static && loader), "it needs a dynamic loader");
    Ok(())
}

fn has_loader(program: &[u8]) -> Result<bool> {
    let table = usize::try_from(u64::from_le_bytes(bytes(program, TABLE_AT)?))?;
    let size = usize::from(u16::from_le_bytes(bytes(program, ENTRY_SIZE_AT)?));
    let count = usize::from(u16::from_le_bytes(bytes(program, ENTRIES_AT)?));
    for entry in 0..count {
        if u32::from_le_bytes(bytes(program, table.saturating_add(entry * size))?) == PT_INTERP {
            return Ok(true);
        }
    }
    Ok(false)
}

fn bytes<const N: usize>(program: &[u8], at: usize) -> Result<[u8; N]> {
    let slice = program.get(at..at.saturating_add(N)).context("the ELF file is cut")?;
    Ok(slice.try_into()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with one program header.
    fn program(machine: u16, kind: u32) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..4].copy_from_slice(MAGIC);
        bytes[4..6].copy_from_slice(&CLASS_AND_DATA);
        bytes[MACHINE_AT..MACHINE_AT + 2].copy_from_slice(&machine.to_le_bytes());
        bytes[TABLE_AT] = 64;
        bytes[ENTRY_SIZE_AT] = 56;
        bytes[ENTRIES_AT] = 1;
        bytes.extend(kind.to_le_bytes());
        bytes.resize(64 + 56, 0);
        bytes
    }

    #[test]
    fn another_processor_and_a_dynamic_program_are_refused() {
        let (load, interp) = (1, PT_INTERP);
        assert!(check(&program(MACHINE_AARCH64, load), Cpu::Aarch64, true).is_ok());
        assert!(check(&program(MACHINE_X86_64, load), Cpu::X86_64, true).is_ok());
        assert!(check(&program(MACHINE_AARCH64, interp), Cpu::Aarch64, false).is_ok());
        let refused = [
            (program(MACHINE_X86_64, load), "for machine 62, not 183"),
            (program(MACHINE_AARCH64, interp), "it needs a dynamic loader"),
            (b"#!/bin/sh".to_vec(), "not an ELF file"),
            (program(MACHINE_AARCH64, load)[..60].to_vec(), "the ELF file is cut"),
        ];
        for (program, why) in refused {
            assert_eq!(check(&program, Cpu::Aarch64, true).unwrap_err().to_string(), why);
        }
    }
}
