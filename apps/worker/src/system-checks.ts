import type { SystemCtx } from '@muster/core/context'
import { checkProcess, type SystemChecks, secretFilesOf } from '@muster/core/system'
import type { WorkerConfig } from './config.ts'

/** The system checks that a worker makes of itself; it reports them with its liveness. */
export function systemChecksOf(config: WorkerConfig, { db, vault }: SystemCtx, env = process.env): SystemChecks {
  const { ANSIBLE_WORK_DIR, ARTIFACT_DIR, NODE_ARTIFACTS_BUCKET } = config
  const settingsFile = env.MUSTER_CONFIG ? [{ path: env.MUSTER_CONFIG, what: 'The configuration file' }] : []
  return () =>
    checkProcess(db, {
      env,
      vault,
      privatePaths: [...settingsFile, ...secretFilesOf(env, config)],
      dataPaths: [ANSIBLE_WORK_DIR, ...(NODE_ARTIFACTS_BUCKET ? [] : [ARTIFACT_DIR])],
    })
}
