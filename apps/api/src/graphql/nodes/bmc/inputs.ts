import { builder } from '../../../builder.ts'
import { rowId } from '../../shared/ids.ts'
import type { InputFields } from '../../shared/mutation.ts'
import { BmcProtocol } from './types.ts'

/** Fields of a BMC that are optional for a new one, too. */
export const bmcFields = (t: InputFields) => ({
  port: t.int({ description: 'Port. Default: 443 for REDFISH, 623 for IPMI.' }),
  mac: t.string({ description: 'MAC address of the BMC.' }),
  protocol: t.field({ type: BmcProtocol, description: 'Protocol. Default of a new BMC: REDFISH.' }),
  fingerprint: t.string({
    description: 'REDFISH: SHA-256 of the only accepted certificate, 64 hexadecimal digits. Replaces `caCertificate`.',
  }),
  caCertificate: t.string({
    description: 'REDFISH: PEM certificates of the only accepted authorities. Replaces `fingerprint`.',
  }),
  systemPath: t.string({
    description: 'REDFISH: path of the node among several systems of the BMC, for example `/redfish/v1/Systems/1`.',
  }),
})

export const BMC_ADDRESS = 'Host name or IP address.'
export const BMC_CREDENTIAL = 'ID of a credential of the kind BMC.'

export const NewNodeBmcInput = builder.inputType('NewNodeBmcInput', {
  description: 'BMC of a new node.',
  fields: (t) => ({
    address: t.string({ required: true, description: BMC_ADDRESS }),
    credentialId: t.id({ required: true, description: BMC_CREDENTIAL }),
    ...bmcFields(t),
  }),
})

/** Converts the global ID of the credential to its row ID. */
export const newBmc = (bmc: typeof NewNodeBmcInput.$inferInput | null | undefined) =>
  bmc ? { ...bmc, credentialId: rowId('Credential', bmc.credentialId) } : undefined
