//! Every provider's wire, each to and from surehand-model. Pure, sans-IO.
