import { z } from 'zod'
import { pathSetting, portSetting } from '../kernel/config.ts'

export const workerSettings = {
  /** Port of /healthz, /readyz and /metrics; 0 picks a free port. */
  WORKER_PORT: portSetting.default(4001),
  /** Parent directory of the private directories of active runs. */
  ANSIBLE_WORK_DIR: pathSetting.default('/var/lib/muster/ansible'),
  /** The playbooks shipped with the product. */
  ANSIBLE_PLAYBOOK_REPO_PATH: pathSetting.optional(),
  /** The ansible-playbook executable. */
  ANSIBLE_PLAYBOOK: z.string().default('ansible-playbook'),
  /** Sandbox for playbooks on the worker's machine; auto: the strongest one available. */
  ANSIBLE_ISOLATION: z.enum(['auto', 'bubblewrap', 'uid', 'none'], 'must be auto, bubblewrap, uid or none').default('auto'),
  /** Additional paths that playbooks may read there. */
  ANSIBLE_READABLE_PATHS: z
    .string()
    .default('')
    .transform((text) => text.split(':').filter(Boolean))
    .refine((paths) => paths.every((one) => one.startsWith('/')), 'must be absolute paths with colons between them'),
} as const
