import { defineDomain } from '../kernel/domain.ts'

/** States of nodes that other domains enforce. Its tables and permissions are those of nodes and agents. */
export const nodeStatesDomain = defineDomain({ name: 'node-states' })
