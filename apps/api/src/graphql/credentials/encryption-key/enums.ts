import { builder } from '../../../builder.ts'

export const EncryptedObjectType = builder.enumType('EncryptedObjectType', {
  description: 'Type of an object with secrets.',
  values: {
    CREDENTIAL: { value: 'credential', description: 'A credential.' },
    CREDENTIAL_ROTATION: { value: 'credential rotation', description: 'A rotation of a credential in progress.' },
    SECRET_STORE: { value: 'secret store', description: 'A secret store.' },
    RUN: { value: 'run', description: 'A run with secret extra vars; its name is that of the template.' },
    SECRET_VARIABLE: { value: 'secret variable', description: 'A secret variable.' },
    AUDIT_SINK: { value: 'audit sink', description: 'An audit sink.' },
    OPENCHAMI_TARGET: { value: 'OpenCHAMI target', description: 'An OpenCHAMI target.' },
    ALERT_ROUTE: { value: 'alert route', description: 'An alert route.' },
    LEDGER_SINK: { value: 'ledger sink', description: 'The chain that gets the entries of the ledger.' },
    TRIGGER: { value: 'trigger', description: 'A webhook trigger.' },
  } as const,
})
