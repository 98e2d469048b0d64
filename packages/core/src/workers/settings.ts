import { z } from 'zod'
import { pathSetting, portSetting } from '../kernel/config.ts'

export const workerSettings = {
  /** Port of /healthz, /readyz and, with METRICS_TOKEN_FILE, /metrics; 0 picks a free port. */
  WORKER_PORT: portSetting.default(4001),
  /** Parent directory of the private directories of active runs. */
  ANSIBLE_WORK_DIR: pathSetting.default('/var/lib/muster/ansible'),
  /** The playbooks shipped with the product. */
  ANSIBLE_PLAYBOOK_REPO_PATH: pathSetting.optional(),
  /** The ansible-playbook executable. */
  ANSIBLE_PLAYBOOK: z.string().default('ansible-playbook'),
  /** Sandbox for playbooks on the worker's machine; auto: the strongest one available, and without one only shipped playbooks run. */
  ANSIBLE_ISOLATION: z.enum(['auto', 'bubblewrap', 'uid', 'none'], 'must be auto, bubblewrap, uid or none').default('auto'),
  /** Users of concurrent runs with the isolation `uid`, one each. The accounts must exist. */
  ISOLATION_UID_RANGE: z
    .string()
    .regex(/^\d+-\d+$/, 'must be two numbers with a dash between them, for example 61000-61015')
    .transform((text) => text.split('-').map(Number) as [number, number])
    .refine(
      ([first, last]) => first > 0 && first <= last && last - first < 10_000,
      'must be 1 to 10,000 ascending users other than root',
    )
    .optional(),
  /** Additional paths that playbooks may read there. */
  ANSIBLE_READABLE_PATHS: z
    .string()
    .default('')
    .transform((text) => text.split(':').filter(Boolean))
    .refine((paths) => paths.every((one) => one.startsWith('/')), 'must be absolute paths with colons between them'),
} as const
