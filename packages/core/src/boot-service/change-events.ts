import { defineChangeEvent } from '../kernel/events.ts'

/** The ID is that of the node. */
export const nodeBootChanged = defineChangeEvent('nodeBoot')
export const unknownMachineChanged = defineChangeEvent('unknownMachine')
export const bootRuleChanged = defineChangeEvent('bootRule')
