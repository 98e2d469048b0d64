import { access } from './access.ts'
import { agents } from './agents.ts'
import { alerts } from './alerts.ts'
import { audit } from './audit.ts'
import { bootProfiles } from './boot-profiles.ts'
import { bootService } from './boot-service.ts'
import { common } from './common.ts'
import { connections } from './connections.ts'
import { credentials } from './credentials.ts'
import { discoveries } from './discoveries.ts'
import { groups } from './groups.ts'
import { ledger } from './ledger.ts'
import { log } from './log.ts'
import { manifests } from './manifests.ts'
import { nodes } from './nodes.ts'
import { onboarding } from './onboarding.ts'
import { openchami } from './openchami.ts'
import { power } from './power.ts'
import { runs } from './runs.ts'
import { schedules } from './schedules.ts'
import { serverMessages } from './server.ts'
import { slurm } from './slurm.ts'
import { slurmAccounting } from './slurm-accounting.ts'
import { slurmConfig } from './slurm-config.ts'
import { slurmOverview } from './slurm-overview.ts'
import { slurmPower } from './slurm-power.ts'
import { slurmScaling } from './slurm-scaling.ts'
import { slurmSnippets } from './slurm-snippets.ts'
import { system } from './system.ts'

/** The English catalog, the source of all keys. Messages use the ICU message syntax. */
export const en = {
  ...common,
  ...access,
  ...nodes,
  ...groups,
  ...bootProfiles,
  ...manifests,
  ...connections,
  ...discoveries,
  ...onboarding,
  ...agents,
  ...alerts,
  ...bootService,
  ...audit,
  ...credentials,
  ...openchami,
  ...power,
  ...runs,
  ...serverMessages,
  ...schedules,
  ...slurm,
  ...slurmAccounting,
  ...slurmConfig,
  ...slurmOverview,
  ...slurmPower,
  ...slurmScaling,
  ...slurmSnippets,
  ...ledger,
  ...system,
  ...log,
} as const
