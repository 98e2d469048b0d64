import { agents } from './en/agents.ts'
import { alerts } from './en/alerts.ts'
import { common } from './en/common.ts'
import { nodes } from './en/nodes.ts'
import { onboarding } from './en/onboarding.ts'
import { runs } from './en/runs.ts'
import { settings } from './en/settings.ts'

/** Every text of the console. `{name}` is filled in; `{ one, other }` is chosen by `count`. */
export const en = { ...common, ...nodes, ...agents, ...alerts, ...onboarding, ...runs, ...settings } as const
