import { join } from 'node:path'
import type { AllSettings } from '@muster/core/registry'
import type { ExecutorConfig } from '../ansible/execution.ts'
import { chooseIsolation, type IsolationConfig, visiblePaths } from '../ansible/isolation/choose-isolation.ts'
import type { Isolation, VisiblePaths } from '../ansible/isolation/isolation.ts'
import { detectAnsible } from '../ansible-version.ts'

type Wanted = AllSettings['ANSIBLE_ISOLATION']
type Files = { folder?: string; password?: string }

/** A fixture makes playbooks of its own later. */
function settings(config: ExecutorConfig, wanted: Wanted, { folder, password }: Files): IsolationConfig {
  const root = join(config.ANSIBLE_WORK_DIR, '..')
  const readable = [join(root, 'playbooks'), ...(folder ? [folder] : [])]
  const paths = { ANSIBLE_READABLE_PATHS: readable, CREDENTIAL_MASTER_PASSWORD_FILE: password }
  return { ...config, ...paths, ANSIBLE_ISOLATION: wanted }
}

const known = new Map<string, ReturnType<typeof detectAnsible>>()

/** It takes a while and is always the same. */
function ansibleOf({ ANSIBLE_PLAYBOOK: executable }: ExecutorConfig) {
  const looked = known.get(executable) ?? detectAnsible(executable)
  known.set(executable, looked)
  return looked
}

/**
 * What a worker would keep the runs of a fixture in.
 * @param files a folder that runs may read besides, and a file in it that they may not
 */
export const createIsolation = async (config: ExecutorConfig, wanted: Wanted, files: Files = {}): Promise<Isolation> =>
  chooseIsolation(settings(config, wanted, files), await ansibleOf(config))

export const createVisiblePaths = async (config: ExecutorConfig): Promise<VisiblePaths> =>
  visiblePaths(settings(config, 'auto', {}), await ansibleOf(config))
