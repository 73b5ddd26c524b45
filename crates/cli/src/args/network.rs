//! Whom a command may contact besides public addresses, and whose certificates it trusts.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(next_help_heading = "Network")]
pub(crate) struct NetworkArgs {
    /// Trust the certificates in this PEM file as well
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_cert: Vec<PathBuf>,
    /// Allow addresses that are not public, such as 192.168.0.0/16
    #[arg(long, value_name = "CIDR")]
    pub(crate) allow_network: Vec<String>,
    /// Allow a port besides 80, 443, 8080 and 8443
    #[arg(long, value_name = "PORT")]
    pub(crate) allow_port: Vec<u16>,
    /// Take this address for a host name (`name=address`, `*.test=127.0.0.1`)
    #[arg(long, value_name = "NAME=ADDRESS")]
    pub(crate) resolve: Vec<String>,
}
