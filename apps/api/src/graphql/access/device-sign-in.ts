import { DEVICE_SIGN_IN, deviceSignInAudit } from '@muster/core/access'
import { Conflict, Forbidden, InvalidInput, NotFound, Unavailable } from '@muster/core/errors'
import { builder } from '../../builder.ts'
import type { OpenDeviceSignIn } from '../../sign-in/device-sign-in.ts'
import { same } from '../shared/enum-values.ts'
import { mutation } from '../shared/mutation.ts'
import { Tenant } from './people.ts'

const DeviceSignIn = builder.objectRef<OpenDeviceSignIn>('DeviceSignIn').implement({
  description: 'A program that wants an API token of the caller, such as `muster login --web`.',
  fields: (t) => ({
    clientName: t.string({
      description: 'Name of the machine of the program. The program chose it.',
      resolve: ({ authorization }) => authorization.clientName,
    }),
    clientAddress: t.string({
      description: 'Network address of the program.',
      resolve: ({ authorization }) => authorization.clientAddress,
    }),
    isSameAddress: t.exposeBoolean('isSameAddress', {
      description: 'Whether the program has the same network address as the caller. If not, it may be of somebody else.',
    }),
    tokenName: t.string({
      description: 'Name of the API token that the program gets.',
      resolve: ({ authorization }) => authorization.tokenName,
    }),
    role: t.exposeString('role', { description: 'Name of the role that the token gets.' }),
    isInstallationAdmin: t.boolean({
      description: 'Whether the token also holds the permissions of the installation.',
      resolve: ({ authorization }) => authorization.isInstallationAdmin,
    }),
    tenant: t.field({
      type: Tenant,
      description: 'Tenant of the token.',
      resolve: ({ tenantId }) => ({ id: tenantId }) as typeof Tenant.$inferType,
    }),
    tokenExpiresInSeconds: t.int({
      nullable: true,
      description: 'Lifetime of the token in seconds; null for the default of the installation.',
      resolve: ({ authorization }) => authorization.expiresInSeconds,
    }),
    startedAt: t.field({
      type: 'DateTime',
      description: 'When the program asked.',
      resolve: ({ authorization }) => authorization.createdAt,
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'Until when it can be approved.',
      resolve: ({ authorization }) => authorization.expiresAt,
    }),
  }),
})

const USER_CODE = 'The code that the program shows, with or without the hyphen.'

mutation('findDeviceSignIn', {
  action: deviceSignInAudit.find,
  description:
    'Shows the program that waits for the code, before the caller approves it. Ten wrong codes block a user for 15 minutes.',
  input: (t) => ({ userCode: t.string({ required: true, description: USER_CODE }) }),
  payload: { deviceSignIn: { type: DeviceSignIn, description: 'The program and what it asks for.' } },
  errors: [NotFound, Unavailable],
  resolve: async ({ userCode }, context) => ({ deviceSignIn: await context.deps.auth.findDeviceSignIn(context, userCode) }),
})

mutation('startDeviceSignIn', {
  action: deviceSignInAudit.start,
  isStep: true,
  description:
    'Starts the sign-in of a program on a machine without a browser (RFC 8628). A person opens `verificationUri`, signs in in any way, compares the code and approves. The program polls with `pollDeviceSignIn`.',
  authScopes: { public: true },
  input: (t) => ({
    tokenName: t.string({ required: true, description: 'Name of the API token, at most 100 characters.' }),
    clientName: t.string({ required: true, description: 'Name of the machine of the program, at most 100 characters.' }),
    role: t.string({ description: 'Role of the token. Default: the role of the person, but not owner.' }),
    isInstallationAdmin: t.boolean({
      description: 'Whether the token also holds the permissions of the installation. Default: false.',
    }),
    tenant: t.string({ description: 'Name or ID of the tenant. Default: the one in which the person works.' }),
    expiresInSeconds: t.int({ description: 'Lifetime of the token, at least 60. Default: 90 days.' }),
  }),
  payload: {
    deviceCode: { type: 'String', description: 'Secret for `pollDeviceSignIn`.' },
    userCode: { type: 'String', description: 'Code for the person, such as `WDJB-MJHT`.' },
    verificationUri: { type: 'String', description: 'Page on which the person enters the code.' },
    verificationUriComplete: { type: 'String', description: 'The same page with the code, which the person compares.' },
    expiresInSeconds: { type: 'Int', description: 'Seconds for which the codes are valid.' },
    intervalSeconds: { type: 'Int', description: 'Seconds between two polls.' },
  },
  errors: [InvalidInput, Unavailable],
  resolve: async (input, context) => {
    const { deviceCode, userCode } = await context.deps.auth.startDeviceSignIn(context, input)
    const page = new URL('/device', context.deps.publicUrl)
    const complete = new URL(page)
    complete.hash = `code=${userCode}`
    return { deviceCode, userCode, verificationUri: page.href, verificationUriComplete: complete.href, ...DEVICE_SIGN_IN }
  },
})

const DeviceSignInStatus = builder.enumType('DeviceSignInStatus', {
  description: 'State of a sign-in that a person must approve.',
  values: same({
    PENDING: 'No decision yet. Poll again after the interval.',
    SLOW_DOWN: 'No decision yet, and the poll came too early. Make the interval 5 seconds longer.',
    APPROVED: 'Approved. The secret is returned once.',
    DENIED: 'The person denied it.',
    EXPIRED: 'The code is unknown, used or expired. Start again.',
  }),
})

mutation('pollDeviceSignIn', {
  action: deviceSignInAudit.poll,
  isStep: true,
  description: 'Asks whether a person has approved the sign-in, and creates the API token when so.',
  authScopes: { public: true },
  input: (t) => ({ deviceCode: t.string({ required: true, description: '`deviceCode` of `startDeviceSignIn`.' }) }),
  payload: {
    status: { type: DeviceSignInStatus, description: 'State of the sign-in.' },
    secret: {
      type: 'String',
      nullable: true,
      description: 'The API token, sent as `Authorization: Bearer …`; null unless APPROVED. It is shown only here.',
    },
  },
  errors: [Forbidden, InvalidInput, NotFound, Conflict, Unavailable],
  resolve: ({ deviceCode }, context) => context.deps.auth.pollDeviceSignIn(context, deviceCode),
})

const decision = { userCode: { type: 'String', description: 'The code.' } } as const

mutation('approveDeviceSignIn', {
  description: 'Approves the sign-in of a program: it gets an API token of the caller. Only for sessions of people.',
  input: (t) => ({ userCode: t.string({ required: true, description: USER_CODE }) }),
  payload: decision,
  errors: [NotFound, Unavailable],
  resolve: async ({ userCode }, context) => {
    await context.deps.auth.approveDeviceSignIn(context, userCode)
    return { userCode }
  },
})

mutation('denyDeviceSignIn', {
  description: 'Denies the sign-in of a program.',
  input: (t) => ({ userCode: t.string({ required: true, description: USER_CODE }) }),
  payload: decision,
  errors: [NotFound, Unavailable],
  resolve: async ({ userCode }, context) => {
    await context.deps.auth.denyDeviceSignIn(context, userCode)
    return { userCode }
  },
})
