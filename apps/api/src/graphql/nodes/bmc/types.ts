import { builder } from '../../../builder.ts'
import { same } from '../../shared/enum-values.ts'

export const BmcProtocol = builder.enumType('BmcProtocol', {
  description: 'Protocol of a BMC.',
  values: same({
    REDFISH: 'Redfish over HTTPS.',
    IPMI: 'IPMI over LAN. Its password is not protected by a certificate: use it only in a management network.',
  }),
})

export const NodeBmc = builder.drizzleObject('nodeBmcs', {
  name: 'NodeBmc',
  description: 'BMC (baseboard management controller) of a node.',
  fields: (t) => ({
    address: t.exposeString('address', { description: 'Host name or IP address.' }),
    port: t.exposeInt('port', { description: 'Port.' }),
    mac: t.exposeString('mac', { nullable: true, description: 'MAC address of the BMC; null when none is set.' }),
    protocol: t.expose('protocol', { type: BmcProtocol, description: 'Protocol.' }),
    credential: t.relation('credential', { description: 'Credential of the kind BMC.' }),
    fingerprint: t.exposeString('fingerprint', {
      nullable: true,
      description: 'SHA-256 of the only accepted certificate, 64 hexadecimal digits; null when authorities are checked.',
    }),
    caCertificate: t.exposeString('caCertificate', {
      nullable: true,
      description:
        'PEM certificates of the only accepted authorities. Null without them: `fingerprint` or the authorities of the installation apply.',
    }),
    systemPath: t.string({
      nullable: true,
      description: 'Path of the node among the systems of the BMC; null when the BMC has one system.',
      select: { columns: { systemPath: true } },
      resolve: ({ systemPath }) => systemPath || null,
    }),
  }),
})
