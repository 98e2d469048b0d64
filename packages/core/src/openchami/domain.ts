import { defineDomain } from '../kernel/domain.ts'
import { openchamiSettings } from './settings.ts'

/** The inventory in the terms of OpenCHAMI's SMD and BSS. It has no tables: components are nodes with an xname. */
export const openchamiDomain = defineDomain({ name: 'openchami', settings: openchamiSettings })
