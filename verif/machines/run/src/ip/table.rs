//! Prints the table of netlists: those of this project, then those of third parties.

use anyhow::Result;

use super::args::IpArgs;
use super::engine::{Ip, Netlist, Tools};
use super::netlist::{Count, count, fmax};
use super::peer::{Peer, PeerEngine};
use super::record::Record;

/// Prints a line for each netlist, and returns the faults, or writes the counts into the record.
pub fn print(tools: &Tools, ip: &Ip, peers: &[PeerEngine], args: &IpArgs) -> Result<Vec<String>> {
    heading(args.fmax);
    let mut faults = Vec::new();
    let mut record = Record::load(ip)?;
    for netlist in ip.plan.netlist.iter().filter(|netlist| args.wants(&netlist.name)) {
        let (count, megahertz) = measured(tools, ip, netlist, args.fmax)?;
        println!("{}", row(netlist, &count, megahertz, args.fmax));
        faults.extend(count.faults(netlist));
        if args.record {
            record.take(&netlist.name, count, megahertz);
        } else {
            faults.extend(record.faults(ip, &netlist.name, &count)?);
        }
    }
    for peer_engine in peers.iter().filter(|peer_engine| args.wants(&peer_engine.peer.name)) {
        let netlist = peer_engine.peer.netlist();
        let (count, megahertz) = measured(tools, &peer_engine.ip, &netlist, args.fmax)?;
        println!("{}", row(&netlist, &count, megahertz, args.fmax));
        if args.record {
            record.take_peer(&peer_engine.peer, count, megahertz)?;
        } else {
            faults.extend(record.faults_of_peer(ip, &peer_engine.peer, &count)?);
        }
    }
    for peer in ip.plan.peer.iter().filter(|peer| args.wants(&peer.name)) {
        println!("{}", absent(&record, peer, args.fmax)?);
    }
    if args.record {
        record.store(ip, peers)?;
    }
    Ok(faults)
}

/// Returns the row of a peer without files, from the record, and its origin.
fn absent(record: &Record, peer: &Peer, with_fmax: bool) -> Result<String> {
    let again = format!("`--peer FOLDER` counts it, out of {}", peer.origin());
    Ok(match record.peer(peer)? {
        Some((count, megahertz)) => {
            let row = row(&peer.netlist(), &count, megahertz, with_fmax);
            format!("{row}\n    The row above is from the record. {again}.")
        }
        None => format!("{}: not in the record as of today's tools. {again}.", peer.name),
    })
}

fn measured(
    tools: &Tools,
    ip: &Ip,
    netlist: &Netlist,
    with_fmax: bool,
) -> Result<(Count, Option<f64>)> {
    let count = count(tools, ip, netlist)?;
    let megahertz = if with_fmax { Some(fmax(tools, ip, netlist)?) } else { None };
    // The value is rounded to the digits that are shown and stored.
    Ok((count, megahertz.map(|megahertz| (megahertz * 10.0).round() / 10.0)))
}

fn heading(with_fmax: bool) {
    println!(
        "{:<32} {:>6} {:>6} {:>6} {:>6} {:>5} {:>5} {:>6} {:>6} {:>6} {:>4} {:>12}{}",
        "netlist",
        "cycles",
        "LUT",
        "bound",
        "aim",
        "SRL",
        "RAM",
        "FF",
        "CARRY4",
        "BRAM36",
        "DSP",
        "cycles x LUT",
        if with_fmax { "     MHz  ns x LUT" } else { "" }
    );
}

fn row(netlist: &Netlist, count: &Count, megahertz: Option<f64>, with_fmax: bool) -> String {
    let number = |value: Option<u32>| value.map_or("-".into(), |value| value.to_string());
    let mut row = format!(
        "{:<32} {:>6} {:>6} {:>6} {:>6} {:>5} {:>5} {:>6} {:>6} {:>6.1} {:>4} {:>12}",
        netlist.name,
        netlist.cycles,
        count.luts,
        number(netlist.luts),
        number(netlist.aim),
        count.shift_registers,
        count.memories,
        count.flip_flops,
        count.carries,
        f64::from(count.half_brams) / 2.0,
        count.multipliers,
        netlist.cycles * count.luts,
    );
    if let Some(megahertz) = megahertz.filter(|_| with_fmax) {
        let nanoseconds = f64::from(netlist.cycles) * 1000.0 / megahertz;
        row.push_str(&format!(" {megahertz:>7.1} {:>9.0}", nanoseconds * f64::from(count.luts)));
    }
    row
}
