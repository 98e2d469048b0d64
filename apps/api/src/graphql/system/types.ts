import type { Finding } from '@muster/core/system'
import { builder } from '../../builder.ts'

const SystemCheckName = builder.enumType('SystemCheckName', {
  description: 'What a system check examines.',
  values: {
    DATABASE: { description: 'Whether the database and the checking processes respond.' },
    MIGRATIONS: { description: 'Whether the database has the schema of this version.' },
    CONFIGURATION: { description: 'Settings that have no effect.' },
    FILES: { description: 'Permissions of directories and files with secrets.' },
    PUBLIC_URL: { description: 'TLS and certificate of the address that users open.' },
    MAIL: { description: 'Whether the mail server accepts a connection and the password.' },
    SIGN_IN: { description: 'Whether the identity provider responds, and groups have roles.' },
    CLOCK: { description: 'Difference between the clocks of a process and of the database.' },
    ENCRYPTION_KEY: { description: 'Whether the newest key version encrypts and decrypts.' },
    DISK: { description: 'Free space of the file systems with data.' },
    ARTIFACTS: { description: 'Whether the artifact store works.' },
    WORKERS: { description: 'Whether workers of one version take work.' },
    ISOLATION: { description: 'How a worker isolates playbooks.' },
    QUEUE: { description: 'Entries that wait too long.' },
  } as const satisfies Record<Finding['check'], unknown>,
})

const SystemCheckSeverity = builder.enumType('SystemCheckSeverity', {
  description: 'Result of a system check.',
  values: {
    OK: { description: 'Nothing is needed.' },
    WARNING: { description: 'Works, with a weakness or a foreseeable problem.' },
    ERROR: { description: 'Something does not work, or secrets are exposed.' },
  },
})

export const SystemCheck = builder.objectRef<Finding>('SystemCheck').implement({
  description: 'Result of one check of the installation.',
  fields: (t) => ({
    check: t.expose('check', { type: SystemCheckName, description: 'What was examined.' }),
    source: t.exposeString('source', { description: 'Where it was observed: `API`, `database`, or the name of a worker.' }),
    severity: t.expose('severity', { type: SystemCheckSeverity, description: 'Result.' }),
    message: t.exposeString('message', { description: 'What was found, in English.' }),
    nextStep: t.exposeString('nextStep', { nullable: true, description: 'Recommended action; null when none is needed.' }),
  }),
})
