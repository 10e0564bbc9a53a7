"""Tags of projects, features, tasks and sections: list, look up and rename them."""
