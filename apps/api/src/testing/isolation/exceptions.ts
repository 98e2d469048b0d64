/** Root fields that answer without a sign-in, in alphabetical order. */
export const PUBLIC = [
  'acceptInvitation',
  'finishOidcSignIn',
  'openInvitation',
  'pollDeviceSignIn',
  'requestPasswordReset',
  'resetPassword',
  'signIn',
  'signInMethods',
  'signInWithLdap',
  'signInWithLink',
  'signInWithPasskey',
  'signOut',
  'startDeviceSignIn',
  'startOidcSignIn',
  'startPasskeySignIn',
  'verifySecondFactor',
  'viewer',
]

const INSTALLATION = 'The answer is the same for all tenants.'
const SIGN_IN = 'Names no object of a tenant; the tests of sign-in cover it.'
const GIVEN = 'Returned as given, or stored, without a search for it.'
const SLURM = "Slurm's words."
const FIXED = 'Has a fixed set of values.'

/**
 * Operations whose answers to the owner have no object of the tenant, and arguments for which the owner's answers are equal whether they
 * name something or not. All others must be proven to reach objects; a prefix covers all arguments that begin with it.
 */
export const UNPROVEN: Record<string, string> = {
  'Query.accelerators(filter.vendor)': FIXED,
  'Query.agentSettings': 'Numbers.',
  'Query.alertUpdateCursor': 'A position in the log of the database.',
  'Query.auditActions': INSTALLATION,
  'Query.auditChain': 'Numbers and hashes.',
  'Query.auditEntries(filter.action)': FIXED,
  'Query.checkNodeImport(input.defaults': GIVEN,
  'Query.credentialKey': 'Numbers.',
  'Query.jobTemplates': 'The first page has shipped templates.',
  'Query.labOffer': 'Exists only with simulated nodes.',
  'Query.ledger': 'Numbers, keys and hashes.',
  'Query.ledgerConsistencyProof': 'Numbers and hashes.',
  'Query.ledgerProof': 'Numbers and hashes.',
  'Query.manifestSchema': 'Shapes, which are the same for all.',
  'Query.nodeFacets': 'Numbers, and values of columns.',
  'Query.nodes(filter.acceleratorVendor)': FIXED,
  'Query.openInvitation': 'The argument is a secret.',
  'Query.permissions': INSTALLATION,
  'Query.planManifests': 'Texts of the caller; apply.test.ts has two tenants.',
  'Query.planManifests(input.files': GIVEN,
  'Query.planManifests(input.owner)': GIVEN,
  'Query.previewRun(input.serial)': FIXED,
  'Query.previewSchedule': 'Reads nothing.',
  'Query.previewSlurmAction(input.features)': GIVEN,
  'Query.previewSlurmAction(input.fingerprint)': GIVEN,
  'Query.previewSlurmAction(input.jobs.ids)': SLURM,
  'Query.previewSlurmAction(input.jobs.partition)': SLURM,
  'Query.previewSlurmAction(input.jobs.states)': SLURM,
  'Query.previewSlurmAction(input.nodes.states)': SLURM,
  'Query.previewSlurmAction(input.reason)': GIVEN,
  'Query.previewSlurmAction(input.reservation.accounts)': GIVEN,
  'Query.previewSlurmAction(input.reservation.hostlist)': GIVEN,
  'Query.previewSlurmAction(input.reservation.users)': GIVEN,
  'Query.previewSlurmAction(input.signal)': FIXED,
  'Query.previewSlurmConfig(input.changes': 'Keys and names in the files of the version.',
  'Query.previewSlurmConfig(input.files': GIVEN,
  'Query.queue': 'Numbers.',
  'Query.retention': 'Numbers.',
  'Query.signInMethods': INSTALLATION,
  'Mutation.setSlurmPowerSaving': 'Needs a managed cluster; slurm-power.test.ts has two tenants.',
  'Query.previewSlurmPowerSaving': 'Needs a managed cluster; slurm-power.test.ts has two tenants.',
  'Query.slurmStartEstimates(input.gpuType)': SLURM,
  'Query.systemChecks': INSTALLATION,
  'SlurmCluster.jobs(filter.state)': SLURM,
  'SlurmCluster.nodes(filter.state)': SLURM,
  'Query.bootDhcpConfig': 'Addresses and MACs; the names of nodes are those of other operations.',
  'Query.bootDurations': 'Enums and numbers.',
  'Query.unknownBootProfile': 'Its other fields are selected by other operations.',
  'BootProfile.assignments': 'Enums and numbers; the other fields are selected by other operations.',
  'NodeGroup.bootAssignments': 'Enums and numbers; the other fields are selected by other operations.',
  'Query.varSettings': FIXED,
  'Query.varsImpact(input.text)': GIVEN,
  'Query.workers': INSTALLATION,
  'Mutation.updateLedgerSettings': 'Numbers, keys and hashes.',
  'Mutation.acceptInvitation': SIGN_IN,
  'Mutation.acceptUnknownMachine(input.nodeId)': 'A machine is accepted once, and the call with its ID has done that.',
  'Mutation.appointInstallationAdmin': 'Installation administrators may appoint users of all tenants.',
  'Mutation.approveDeviceSignIn': SIGN_IN,
  'Mutation.checkSignInMethod': SIGN_IN,
  'Mutation.confirmIdentity': SIGN_IN,
  'Mutation.confirmTotp': SIGN_IN,
  'Mutation.denyDeviceSignIn': SIGN_IN,
  'Mutation.disconnectIdentity': SIGN_IN,
  'Mutation.findDeviceSignIn': SIGN_IN,
  'Mutation.finishOidcSignIn': SIGN_IN,
  'Mutation.finishPasskeyRegistration': SIGN_IN,
  'Mutation.pollDeviceSignIn': SIGN_IN,
  'Mutation.removePasskey': 'Requires the password, which the owner here does not have.',
  'Mutation.removeTotp': SIGN_IN,
  'Mutation.replaceRecoveryCodes': SIGN_IN,
  'Mutation.requestPasswordReset': SIGN_IN,
  'Mutation.resetPassword': SIGN_IN,
  'Mutation.setNodeGroupMembers(input.removeNodeIds)': 'A node that is no member is skipped.',
  'Mutation.setLedgerSink': GIVEN,
  'Mutation.setPassword': SIGN_IN,
  'Mutation.requestEmailChange': SIGN_IN,
  'Mutation.confirmEmailChange': SIGN_IN,
  'Mutation.signIn': SIGN_IN,
  'Mutation.signInWithLdap': SIGN_IN,
  'Mutation.signInWithLink': SIGN_IN,
  'Mutation.signInWithPasskey': SIGN_IN,
  'Mutation.startDeviceSignIn': SIGN_IN,
  'Mutation.startOidcSignIn': SIGN_IN,
  'Mutation.startPasskeyConfirmation': SIGN_IN,
  'Mutation.startPasskeyRegistration': SIGN_IN,
  'Mutation.startPasskeySignIn': SIGN_IN,
  'Mutation.startTotp': SIGN_IN,
  'Mutation.unassignBootProfile(input.groupIds)': 'A group without an assignment is skipped.',
  'Mutation.unassignBootProfile(input.nodeIds)': 'A node without an assignment is skipped.',
  'Mutation.verifySecondFactor': SIGN_IN,
}

/** What installation administrators see and change in all tenants. */
export const OF_INSTALLATION = {
  operations: [
    'Query.installationAdmins',
    'Query.tenants',
    'Mutation.appointInstallationAdmin',
    'Mutation.createTenant',
    'Mutation.dismissInstallationAdmin',
    'Mutation.updateTenant',
  ],
  types: ['Tenant'],
}

/** Answers that depend on time, or on the activity of the whole installation. */
export const VARIABLE = ['Query.alertUpdateCursor', 'Query.systemChecks']

/** Types whose objects belong to no tenant. */
export const SHARED = ['Worker']

/** Mutations that succeed once per object, so that two calls have different answers. */
export const ONCE = ['Mutation.acceptUnknownMachine']

/** Arguments of mutations that may be unique: an answer must not tell that another tenant uses the value. */
export const UNIQUE = /\b(agentId|displayName|email|host|name|prefix|publicKey)\)$/

/** Routes without data of tenants, GraphQL itself, and those for agents, which authenticate with their keys. */
export const OTHER_ROUTES = ['/graphql', '/health', '/readyz', '/api/v1/hpc', '/agent/v1']
