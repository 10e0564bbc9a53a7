"""Tags of projects, features, tasks and sections: what there is, where it is, and other names for it."""
