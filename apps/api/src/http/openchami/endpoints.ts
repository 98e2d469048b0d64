import { bootProfileAudit } from '@muster/core/boot-profiles'
import { nodeGroupAudit } from '@muster/core/groups'
import { nodeAudit } from '@muster/core/nodes'
import * as bootParameters from './boot-parameters.ts'
import * as endpoints from './component-endpoints.ts'
import * as components from './components.ts'
import * as interfaces from './ethernet-interfaces.ts'
import { deleteAll } from './filters.ts'
import * as groups from './groups.ts'
import * as redfish from './redfish-endpoints.ts'
import type { Endpoint, Method } from './request.ts'
import * as service from './service.ts'

const writesNodes = { hasBody: true, action: nodeAudit.update }
const writesGroups = { hasBody: true, action: nodeGroupAudit.update }
const writesBoot = { hasBody: true, action: bootProfileAudit.assign }
const COMPONENTS = { handle: components.list, filters: components.FILTERS }
const INTERFACES = { handle: interfaces.list, filters: interfaces.FILTERS }

/**
 * The endpoints of SMD that OpenCHAMI's tools use: https://github.com/OpenCHAMI/smd, api/swagger_v2.yaml. SMD's version 2 of
 * EthernetInterfaces. Of BSS, those that need a token; the boot service serves the others to machines.
 */
export const OPENCHAMI_ENDPOINTS: Record<string, Partial<Record<Method, Endpoint>>> = {
  '/hsm/v2/service/ready': { GET: { handle: service.ready, isPublic: true } },
  '/hsm/v2/service/liveness': { GET: { handle: service.liveness, isPublic: true } },
  '/hsm/v2/service/values': { GET: { handle: service.values, isPublic: true } },
  '/hsm/v2/service/values/:kind': { GET: { handle: service.valuesOf, isPublic: true } },

  '/hsm/v2/State/Components': {
    GET: COMPONENTS,
    POST: { handle: components.post, ...writesNodes },
    DELETE: { handle: deleteAll },
  },
  '/hsm/v2/State/Components/BulkNID': { PATCH: { handle: components.patchNids, ...writesNodes } },
  '/hsm/v2/State/Components/BulkEnabled': { PATCH: { handle: components.patchEnabled, ...writesNodes } },
  '/hsm/v2/State/Components/ByNID/:nid': { GET: { handle: components.getByNid } },
  '/hsm/v2/State/Components/:xname': {
    GET: { handle: components.get },
    PUT: { handle: components.put, ...writesNodes },
    DELETE: { handle: components.remove, action: nodeAudit.decommission },
  },
  '/hsm/v2/State/Components/:xname/NID': { PATCH: { handle: components.patchOne, ...writesNodes } },
  '/hsm/v2/State/Components/:xname/Enabled': { PATCH: { handle: components.patchOne, ...writesNodes } },
  '/hsm/v2/State/Components/:xname/Role': { PATCH: { handle: components.patchOne, ...writesNodes } },

  '/hsm/v2/Inventory/EthernetInterfaces': {
    GET: INTERFACES,
    POST: { handle: interfaces.post, ...writesNodes },
    DELETE: { handle: deleteAll },
  },
  '/hsm/v2/Inventory/EthernetInterfaces/:id': {
    GET: { handle: interfaces.get },
    PATCH: { handle: interfaces.patch, ...writesNodes },
    DELETE: { handle: interfaces.remove, action: nodeAudit.update },
  },
  '/hsm/v2/Inventory/EthernetInterfaces/:id/IPAddresses': { GET: { handle: interfaces.getAddresses } },

  '/hsm/v2/Inventory/RedfishEndpoints': {
    GET: { handle: redfish.list, filters: redfish.FILTERS },
    POST: { handle: redfish.post, ...writesNodes },
    DELETE: { handle: deleteAll },
  },
  '/hsm/v2/Inventory/RedfishEndpoints/:xname': {
    GET: { handle: redfish.get },
    PUT: { handle: redfish.put, ...writesNodes },
    DELETE: { handle: redfish.remove, action: nodeAudit.removeBmc },
  },

  '/hsm/v2/Inventory/ComponentEndpoints': {
    GET: { handle: endpoints.list, filters: endpoints.FILTERS },
    DELETE: { handle: deleteAll },
  },
  '/hsm/v2/Inventory/ComponentEndpoints/:xname': {
    GET: { handle: endpoints.get },
    DELETE: { handle: endpoints.remove, action: nodeAudit.removeBmc },
  },

  '/hsm/v2/groups': {
    GET: { handle: groups.list, filters: groups.FILTERS },
    POST: { handle: groups.post, ...writesGroups },
  },
  '/hsm/v2/groups/labels': { GET: { handle: groups.labels } },
  '/hsm/v2/groups/:label': {
    GET: { handle: groups.get },
    PATCH: { handle: groups.patch, ...writesGroups },
    DELETE: { handle: groups.remove, action: nodeGroupAudit.delete },
  },
  '/hsm/v2/groups/:label/members': {
    GET: { handle: groups.members },
    POST: { handle: groups.postMember, ...writesGroups },
    PUT: { handle: groups.putMembers, ...writesGroups },
  },
  '/hsm/v2/groups/:label/members/:xname': { DELETE: { handle: groups.removeMember, action: nodeGroupAudit.setMembers } },
  '/hsm/v2/memberships': { GET: { handle: groups.memberships, filters: ['id'] } },
  '/hsm/v2/memberships/:xname': { GET: { handle: groups.membership } },

  '/boot/v1/bootparameters': {
    GET: { handle: bootParameters.get, filters: bootParameters.FILTERS, readsBody: true, needsToken: true },
    POST: { handle: bootParameters.post, ...writesBoot },
    PUT: { handle: bootParameters.put, ...writesBoot },
    PATCH: { handle: bootParameters.patch, ...writesBoot },
    DELETE: { handle: bootParameters.remove, ...writesBoot },
  },
  '/boot/v1/service/status': { GET: { handle: bootParameters.status, isPublic: true } },
}
