import { join } from 'node:path'
import type { SETTINGS } from '@muster/core/config'
import type { z } from 'zod'
import type { ExecutorConfig } from '../ansible/execution.ts'
import { chooseIsolation, type IsolationConfig, surroundingsOf } from '../ansible/isolation/choose-isolation.ts'
import type { Isolation, Surroundings } from '../ansible/isolation/isolation.ts'
import { lookAtAnsible } from '../ansible-version.ts'

type Wanted = z.output<typeof SETTINGS.ANSIBLE_ISOLATION>
type Files = { folder?: string; password?: string }

/** A world makes playbooks of its own later. */
function settings(config: ExecutorConfig, wanted: Wanted, { folder, password }: Files): IsolationConfig {
  const root = join(config.ANSIBLE_WORK_DIR, '..')
  const readable = [join(root, 'playbooks'), join(root, 'packages/discovery/src'), ...(folder ? [folder] : [])]
  const paths = { ANSIBLE_READABLE_PATHS: readable, CREDENTIAL_MASTER_PASSWORD_FILE: password }
  return { ...config, ...paths, ANSIBLE_ISOLATION: wanted }
}

const known = new Map<string, ReturnType<typeof lookAtAnsible>>()

/** It takes a while and is always the same. */
function ansibleOf({ ANSIBLE_PLAYBOOK: executable }: ExecutorConfig) {
  const looked = known.get(executable) ?? lookAtAnsible(executable)
  known.set(executable, looked)
  return looked
}

/**
 * What a worker would keep the runs of a world in.
 * @param files a folder that runs may read besides, and a file in it that they may not
 */
export const isolationFor = async (config: ExecutorConfig, wanted: Wanted, files: Files = {}): Promise<Isolation> =>
  chooseIsolation(settings(config, wanted, files), await ansibleOf(config))

export const surroundingsFor = async (config: ExecutorConfig): Promise<Surroundings> =>
  surroundingsOf(settings(config, 'auto', {}), await ansibleOf(config))
