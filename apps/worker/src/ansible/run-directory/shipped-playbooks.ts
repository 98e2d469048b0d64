import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AllSettings } from '@muster/core/registry'

const REPOSITORY = fileURLToPath(new URL('../../../../..', import.meta.url))

/** Muster's own plugins, modules and roles. Always those of this package, also when the playbooks are in another directory. */
export const ANSIBLE_CONTENT = join(REPOSITORY, 'playbooks')

/** The probe script that the playbook collect_facts runs on nodes. */
export const PROBE_SCRIPT = join(REPOSITORY, 'packages/discovery/src/probe.sh')

/** Directory of the playbooks of templates with the source SHIPPED. */
export const playbookRoot = (config: Pick<AllSettings, 'ANSIBLE_PLAYBOOK_REPO_PATH'>): string =>
  config.ANSIBLE_PLAYBOOK_REPO_PATH ?? ANSIBLE_CONTENT
