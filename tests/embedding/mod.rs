//! Tests of the artefacts for other hosts: the component and its WIT contract.

mod component;
