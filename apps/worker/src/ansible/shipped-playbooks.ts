import { fileURLToPath } from 'node:url'
import type { loadConfig } from '@muster/core/config'

const SHIPPED = fileURLToPath(new URL('../../../../playbooks', import.meta.url))

/** The product's own playbooks, with its plugins. */
export const playbooksOf = (config: ReturnType<typeof loadConfig<'ANSIBLE_PLAYBOOK_REPO_PATH'>>): string =>
  config.ANSIBLE_PLAYBOOK_REPO_PATH ?? SHIPPED
