import { builder } from '../../builder.ts'
import { same } from '../shared/enum-values.ts'

export const PowerState = builder.enumType('PowerState', {
  description: 'Power state of a node, as its BMC reports it.',
  values: same({
    ON: 'On.',
    OFF: 'Off.',
    POWERING_ON: 'Between off and on.',
    POWERING_OFF: 'Between on and off.',
    UNKNOWN: 'The BMC was never read, or did not answer the last time. The node may be on.',
  }),
})

export const PowerAction = builder.enumType('PowerAction', {
  description: 'Action on nodes through their BMCs. Each one names the permission that it needs.',
  values: same({
    ON: 'Power on (`power:on`).',
    OFF: 'Shut down: the operating system stops first (`power:off`).',
    FORCE_OFF: 'Power off without a shutdown (`power:force`).',
    RESTART: 'Restart: the operating system stops first (`power:off`).',
    CYCLE: 'Power off and on without a shutdown (`power:force`).',
    NMI: 'Send a non-maskable interrupt, with which a kernel can write a crash dump (`power:force`).',
    BOOT_ONCE: 'Choose the device of the next boot; does not restart the node (`power:boot`).',
  }),
})

export const BootDevice = builder.enumType('BootDevice', {
  description: 'Device of the next boot.',
  values: same({
    PXE: 'Network boot.',
    HTTP: 'UEFI HTTP boot.',
    DISK: 'Disk.',
    BIOS_SETUP: 'Setup of the BIOS.',
    NONE: 'The usual order: removes a choice that was not used.',
  }),
})

export const PowerRunStatus = builder.enumType('PowerRunStatus', {
  description: 'Status of a power run.',
  values: same({
    PENDING: 'Waits for a worker.',
    RUNNING: 'A worker sends commands and reads states.',
    CANCELING: 'Canceled; effects of commands that were sent are still read.',
    SUCCEEDED: 'Every node is as wanted.',
    PARTIAL: 'Some nodes are as wanted, others not.',
    FAILED: 'No node is as wanted.',
    CANCELED: 'Canceled before all nodes had their command.',
  }),
})

export const PowerResult = builder.enumType('PowerResult', {
  description: 'Result of a power run for one node, by what its BMC reported afterwards.',
  values: same({
    DONE: 'As wanted.',
    UNCHANGED: 'It was so already; no command was sent.',
    ACCEPTED: 'The BMC accepted the command, and reports nothing that shows its effect.',
    REFUSED: 'The BMC refused it, or the node was protected; see the message.',
    UNREACHABLE: 'The BMC did not answer; no command was sent.',
    NOT_VERIFIED: 'The command was sent, and its effect was not seen.',
    NOT_SENT: 'Canceled before the command was sent.',
  }),
})
