"""How fast are this computer's cores, memory and synchronisation? Its description, made by measuring."""
