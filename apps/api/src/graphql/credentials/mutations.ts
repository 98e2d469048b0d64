import { testCredential } from '@muster/core/connections'
import { createCredential, deleteCredential, updateCredential } from '@muster/core/credentials'
import { Conflict, NotFound } from '@muster/core/errors'
import { builder } from '../../builder.ts'
import { ConnectionTest } from '../connections/types.ts'
import { Deleted } from '../shared/deleted.ts'
import { COMMON } from '../shared/errors.ts'
import { given, globalId, rowId, rowIdIfGiven } from '../shared/ids.ts'
import { BecomeMethod, CredentialKind, SecretField } from './enums.ts'
import { Credential } from './types.ts'

const SecretRefInput = builder.inputType('SecretRefInput', {
  description: 'Where in a secret store the value of a field is.',
  fields: (t) => ({
    field: t.field({ type: SecretField, required: true, description: 'Which field.' }),
    path: t.string({ required: true, description: 'Path of the secret, below the mount.' }),
    key: t.string({ required: true, description: 'Which of its keys holds the value.' }),
  }),
})

/** As the verbs take them: by field. */
const byField = <T extends null | undefined>(refs: (typeof SecretRefInput.$inferInput)[] | T) =>
  refs && Object.fromEntries(refs.map(({ field, path, key }) => [field, { path, key }]))

const CreateCredentialInput = builder.inputType('CreateCredentialInput', {
  description: 'A credential to make. Which fields it can have follows from its kind; an unusable key is refused.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Its name, unique in the tenant.' }),
    kind: t.field({ type: CredentialKind, required: true, description: 'What it opens.' }),
    description: t.string({ description: 'Free text.' }),
    username: t.string({ description: 'Login name; on BECOME the user to become.' }),
    privateKey: t.string({ description: 'Private key in PEM or OpenSSH form.' }),
    passphrase: t.string({ description: 'Opens the private key.' }),
    password: t.string({ description: 'Password; on GIT also a token.' }),
    becomeMethod: t.field({ type: BecomeMethod, description: 'BECOME only: the command to use.' }),
    host: t.string({ description: 'BASTION and GIT: host name or address.' }),
    port: t.int({
      description: 'BASTION: port of its SSH server; left out: 22. GIT: of the server; left out: the usual one.',
    }),
    hostKey: t.string({ description: 'GIT with a private key: host key of the server, a line as in known_hosts.' }),
    viaId: t.id({ description: 'BASTION only: the bastion in front of it.' }),
    secretStoreId: t.id({ description: 'The secret store in which the fields of secretRefs are.' }),
    secretRefs: t.field({ type: [SecretRefInput], description: 'Fields to be read from the secret store when they are needed.' }),
  }),
})

const UpdateCredentialInput = builder.inputType('UpdateCredentialInput', {
  description: 'What to change of a credential; what is left out stays as it is.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Which credential.' }),
    name: t.string({ description: 'Its name, unique in the tenant.' }),
    description: t.string({ description: 'Free text.' }),
    username: t.string({ description: 'Login name; on BECOME the user to become.' }),
    privateKey: t.string({ description: 'Another private key; null takes it away.' }),
    passphrase: t.string({ description: 'Opens the private key.' }),
    password: t.string({ description: 'Another password; null takes it away.' }),
    becomeMethod: t.field({ type: BecomeMethod, description: 'BECOME only: the command to use.' }),
    host: t.string({ description: 'BASTION and GIT: host name or address. Its approved host key is forgotten.' }),
    port: t.int({ description: 'BASTION and GIT: port of the server; null: the usual one.' }),
    hostKey: t.string({ description: 'GIT only: another host key of the server, a line as in known_hosts.' }),
    viaId: t.id({ description: 'BASTION only: the bastion in front of it; null: none.' }),
    secretStoreId: t.id({ description: 'The secret store in which the fields of secretRefs are.' }),
    secretRefs: t.field({
      type: [SecretRefInput],
      description: 'All fields to be read from the secret store; values of them that were kept here are forgotten.',
    }),
  }),
})

builder.mutationFields((t) => ({
  createCredential: t.field({
    type: Credential,
    description: 'Make a credential. Its secrets are sealed at once and never given out again.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { input: t.arg({ type: CreateCredentialInput, required: true, description: 'Which.' }) },
    resolve: (_root, { input }, { ctx }) =>
      createCredential(ctx, {
        ...given(input),
        viaId: rowIdIfGiven('Credential', input.viaId ?? undefined),
        secretStoreId: rowIdIfGiven('SecretStore', input.secretStoreId ?? undefined),
        secretRefs: byField(input.secretRefs ?? undefined),
      }),
  }),
  updateCredential: t.field({
    type: Credential,
    description: 'Change a credential.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { input: t.arg({ type: UpdateCredentialInput, required: true, description: 'What to change.' }) },
    resolve: (_root, { input }, { ctx }) =>
      // Null where a field cannot be empty is for the verb to refuse.
      updateCredential(ctx, {
        ...input,
        id: rowId('Credential', input.id),
        viaId: rowIdIfGiven('Credential', input.viaId),
        secretStoreId: rowIdIfGiven('SecretStore', input.secretStoreId),
        secretRefs: byField(input.secretRefs),
      } as Parameters<typeof updateCredential>[1]),
  }),
  testCredential: t.field({
    type: ConnectionTest,
    description:
      "Have a worker try a credential on a node in place of the node's own of its kind. The node stays as it is. Follow it with the subscription connectionTestUpdated.",
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: {
      id: t.arg.id({ required: true, description: 'Which credential.' }),
      nodeId: t.arg.id({ required: true, description: 'On which node; its host key must be approved.' }),
    },
    resolve: (_root, { id, nodeId }, { ctx }) =>
      testCredential(ctx, { id: rowId('Credential', id), nodeId: rowId('ComputeNode', nodeId) }),
  }),
  deleteCredential: t.field({
    type: Deleted,
    description: 'Delete a credential that nothing uses.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { id: t.arg.id({ required: true, description: 'Which credential.' }) },
    resolve: async (_root, { id }, { ctx }) => {
      const deleted = await deleteCredential(ctx, { id: rowId('Credential', id) })
      return { id: globalId('Credential', deleted.id) }
    },
  }),
}))
