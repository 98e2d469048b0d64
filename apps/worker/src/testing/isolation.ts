import { join } from 'node:path'
import type { AllSettings } from '@muster/core/registry'
import type { ExecutorConfig } from '../ansible/deps.ts'
import { chooseIsolation, type IsolationConfig, visiblePaths } from '../ansible/isolation/choose-isolation.ts'
import type { Isolation, VisiblePaths } from '../ansible/isolation/isolation.ts'
import { detectAnsible } from '../ansible-version.ts'

type Mode = AllSettings['ANSIBLE_ISOLATION']
type Files = { folder?: string; password?: string; uids?: [number, number] }

/** Settings of a worker for a fixture, which creates its playbooks later. */
function settings(config: ExecutorConfig, mode: Mode, { folder, password, uids }: Files): IsolationConfig {
  const root = join(config.ANSIBLE_WORK_DIR, '..')
  const readable = [join(root, 'playbooks'), ...(folder ? [folder] : [])]
  const paths = { ANSIBLE_READABLE_PATHS: readable, CREDENTIAL_MASTER_PASSWORD_FILE: password }
  return { ...config, ...paths, ANSIBLE_ISOLATION: mode, ISOLATION_UID_RANGE: uids }
}

const detected = new Map<string, ReturnType<typeof detectAnsible>>()

/** Detects the Ansible version; cached, because the detection is slow. */
function ansibleOf({ ANSIBLE_PLAYBOOK: executable }: ExecutorConfig) {
  const ansible = detected.get(executable) ?? detectAnsible(executable)
  detected.set(executable, ansible)
  return ansible
}

/**
 * The isolation that a worker would choose for the runs of a fixture.
 * @param files an additional folder that runs may read, and a file in it that stays hidden
 */
export const createIsolation = async (config: ExecutorConfig, mode: Mode, files: Files = {}): Promise<Isolation> =>
  chooseIsolation(settings(config, mode, files), await ansibleOf(config))

export const createVisiblePaths = async (config: ExecutorConfig): Promise<VisiblePaths> =>
  visiblePaths(settings(config, 'auto', {}), await ansibleOf(config))
