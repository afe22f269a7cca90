//! The real binary, as it is used: commands, options, files, journals, the hub, the terminal.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;

mod abstention;
mod adapters;
mod attack;
mod batch;
mod bench;
mod build;
mod cache;
mod calibration;
mod chat;
mod compare;
mod constrained;
mod correlate;
mod documentation;
mod endpoint;
mod eval;
mod exit_codes;
mod first_hour;
#[cfg(target_os = "linux")]
mod gpu_script;
mod groups;
mod gsm8k;
mod help;
mod hub;
mod inputs;
mod joining;
mod label;
mod messages;
mod own_files;
mod panels;
mod preferences;
mod protocols;
mod report;
mod resume;
mod rubric;
mod rules_modes;
mod scale;
#[cfg(feature = "serve")]
mod serve;
mod tiny_judge;
mod verify;
#[cfg(feature = "serve")]
mod view;
mod without_effect;
