import type { ArtifactStore } from '@muster/core/artifacts'
import type { Runtime } from '@muster/core/registry'
import { checkProcess, checkPublicUrl, type Observation, type SystemChecks, secretFilesOf } from '@muster/core/system'
import type { Mailer } from './mail/mailer.ts'
import type { Ldap } from './sign-in/ldap.ts'
import type { Oidc } from './sign-in/oidc.ts'

type Config = {
  MUSTER_PUBLIC_URL: string
  ARTIFACT_DIR: string
  NODE_ARTIFACTS_BUCKET?: string | undefined
}

type Services = {
  runtime: Pick<Runtime, 'db' | 'vault'>
  store: ArtifactStore
  connections: () => { mailer: Mailer | null; oidc: Oidc | null; ldap: Ldap | null }
}

/** The system checks that an API process makes of itself. */
export function systemChecksOf(config: Config, { runtime, store, connections }: Services, env: NodeJS.ProcessEnv): SystemChecks {
  const files = config.NODE_ARTIFACTS_BUCKET ? [] : [{ path: config.ARTIFACT_DIR, what: 'The directory of artifacts' }]
  const secrets = [
    { path: env.MUSTER_DATA_DIR, what: 'The data directory' },
    { path: env.MUSTER_CONFIG, what: 'The configuration file' },
    ...files,
  ]
  const privatePaths = [...secrets.flatMap(({ path, what }) => (path ? [{ path, what }] : [])), ...secretFilesOf(env, config)]
  const dataPaths = [env.MUSTER_DATA_DIR, ...files.map(({ path }) => path)].filter((path) => path !== undefined)
  let opened: ReturnType<Services['connections']> | undefined
  return async () => {
    opened ??= connections()
    const results = await Promise.all([
      checkProcess(runtime.db, { env, privatePaths, dataPaths, vault: runtime.vault }),
      checkPublicUrl(config.MUSTER_PUBLIC_URL),
      checkArtifacts(store),
      opened.mailer?.check() ?? [],
      opened.oidc?.check() ?? [],
      opened.ldap?.check() ?? [],
    ])
    return results.flat()
  }
}

async function checkArtifacts(store: ArtifactStore): Promise<Observation> {
  const reason = await store.notReadyReason()
  if (!reason) return { check: 'ARTIFACTS', severity: 'OK', message: 'The artifact store is ready.', nextStep: null }
  const nextStep = 'Check ARTIFACT_DIR and its permissions, or the settings of the bucket (NODE_ARTIFACTS_BUCKET, S3_…).'
  return { check: 'ARTIFACTS', severity: 'ERROR', message: reason, nextStep }
}
