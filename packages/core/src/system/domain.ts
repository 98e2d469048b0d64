import { defineDomain } from '../kernel/domain.ts'
import { systemPermissions } from './permissions.ts'

export const systemDomain = defineDomain({ name: 'system', permissions: { systemPermissions } })
