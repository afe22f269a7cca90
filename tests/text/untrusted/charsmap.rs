//! A `Precompiled` normaliser's table (`spm_precompiled`): a double array of the texts to be replaced, and what replaces
//! them.

use std::collections::BTreeMap;

/// A node: its children by their byte, and the place of its replacement.
#[derive(Default)]
struct Node {
    children: BTreeMap<u8, Node>,
    value: Option<u32>,
}

/// The table in Base64.
pub(crate) fn charsmap(pairs: &[(&str, &str)]) -> String {
    let mut root = Node::default();
    let mut replacements = Vec::new();
    for (from, to) in pairs {
        let mut node = &mut root;
        for byte in from.bytes() {
            node = node.children.entry(byte).or_default();
        }
        node.value = Some(replacements.len() as u32);
        replacements.extend(to.bytes());
        replacements.push(0);
    }
    let mut units = vec![0u32; 1];
    let mut used = vec![true];
    place(&root, 0, &mut units, &mut used);
    let mut table = ((units.len() * 4) as u32).to_le_bytes().to_vec();
    table.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    table.extend(replacements);
    base64(&table)
}

/// Lays a node's children out around the first base where all are free; a unit is offset << 10 | leaf << 8 | label.
fn place(node: &Node, at: usize, units: &mut Vec<u32>, used: &mut Vec<bool>) {
    let mut labels: Vec<u8> = node.children.keys().copied().collect();
    if node.value.is_some() {
        labels.insert(0, 0);
    }
    if labels.is_empty() {
        return;
    }
    let base = (1..1 << 20)
        .find(|base| {
            labels.iter().all(|&label| {
                !used
                    .get(base ^ usize::from(label))
                    .is_some_and(|used| *used)
            })
        })
        .unwrap();
    let end = (base | 0xff) + 1;
    if units.len() < end {
        units.resize(end, 0);
        used.resize(end, false);
    }
    for &label in &labels {
        used[base ^ usize::from(label)] = true;
    }
    units[at] |= ((at ^ base) as u32) << 10;
    if let Some(value) = node.value {
        units[at] |= 1 << 8;
        units[base] = value | 1 << 31;
    }
    for (&label, child) in &node.children {
        let place_of_child = base ^ usize::from(label);
        units[place_of_child] = u32::from(label);
        place(child, place_of_child, units, used);
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bytes
        .chunks(3)
        .flat_map(|chunk| {
            let three = [
                chunk[0],
                *chunk.get(1).unwrap_or(&0),
                *chunk.get(2).unwrap_or(&0),
            ];
            let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
            (0..4).map(move |at| {
                if at > chunk.len() {
                    '='
                } else {
                    char::from(LETTERS[(bits >> (18 - 6 * at)) as usize & 63])
                }
            })
        })
        .collect()
}
