"""When a diary is due: the policy's numbers, the tiers, the plan."""
