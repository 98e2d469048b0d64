import { accessSettings } from '@muster/core/access'
import { artifactStoreSettings } from '@muster/core/artifacts'
import { auditSettings } from '@muster/core/audit'
import { loadConfig, pickSettings, processSettings } from '@muster/core/config'
import { connectionSettings } from '@muster/core/connections'
import { credentialKeySettings, masterPasswordSettings } from '@muster/core/credentials'
import { outboundSettings } from '@muster/core/outbound'
import { jobRunSettings } from '@muster/core/runs'
import { workerSettings } from '@muster/core/workers'

/** @throws Error with one line per wrong setting */
export const loadWorkerConfig = (env: NodeJS.ProcessEnv) =>
  loadConfig(env, {
    ...processSettings,
    ...masterPasswordSettings,
    ...credentialKeySettings,
    ...artifactStoreSettings,
    ...auditSettings,
    ...workerSettings,
    ...jobRunSettings,
    ...connectionSettings,
    ...outboundSettings,
    ...pickSettings(accessSettings, 'HOST', 'MUSTER_PUBLIC_URL', 'METRICS_TOKEN_FILE'),
  })
export type WorkerConfig = ReturnType<typeof loadWorkerConfig>
