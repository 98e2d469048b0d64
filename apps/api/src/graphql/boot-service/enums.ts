import type {
  BOOT_CAUSES,
  BOOT_FETCH_KINDS,
  BOOT_STATES,
  DHCP_SERVERS,
  BootStage as Stage,
  UNKNOWN_MACHINE_STATES,
} from '@muster/core/boot-service'
import { builder } from '../../builder.ts'
import { same, upper } from '../shared/enum-values.ts'

export const UnknownMachineState = builder.enumType('UnknownMachineState', {
  description: 'Decision about an unknown machine.',
  values: same({
    NEW: 'Waits for a decision.',
    ACCEPTED: 'Is a node.',
    REJECTED: 'Boots from its own disk.',
  } satisfies Record<(typeof UNKNOWN_MACHINE_STATES)[number], string>),
})

export const BootCause = builder.enumType('BootCause', {
  description: 'What began a boot attempt.',
  values: same({
    POWER_ON: 'The node was switched on.',
    BOOT_SCRIPT: 'The firmware fetched a boot script.',
    CLOUD_INIT: 'cloud-init fetched its data without a boot script.',
  } satisfies Record<(typeof BOOT_CAUSES)[number], string>),
})

export const BootState = builder.enumType('BootState', {
  description: 'State of a boot attempt.',
  values: same({
    BOOTING: 'In progress.',
    READY: 'The node became READY.',
    ABANDONED: 'Another boot began, or nothing happened for a day.',
  } satisfies Record<(typeof BOOT_STATES)[number], string>),
})

export const BootStage = builder.enumType('BootStage', {
  description: 'Stage of a boot, in the usual order.',
  values: same({
    POWER_ON: 'The node was switched on.',
    BOOT_SCRIPT: 'The firmware fetched the boot script.',
    KERNEL: 'The kernel started. Known only after a discovery.',
    CLOUD_INIT: 'cloud-init fetched its data.',
    PHONE_HOME: 'cloud-init reported that it has finished.',
    FIRST_CONTACT: 'The first heartbeat arrived, or the first SSH connection succeeded.',
    DISCOVERED: 'A discovery succeeded.',
    READY: 'The node is READY.',
  } satisfies Record<Stage, string>),
})

export const DhcpServer = builder.enumType('DhcpServer', {
  description: 'DHCP server.',
  values: upper({
    dnsmasq: 'dnsmasq.',
    kea: 'Kea.',
    coredhcp: 'CoreDHCP.',
  } satisfies Record<(typeof DHCP_SERVERS)[number], string>),
})

export const BootFetchKind = builder.enumType('BootFetchKind', {
  description: 'What a node fetched or sent.',
  values: same({
    BOOT_SCRIPT: 'Boot script.',
    META_DATA: 'meta-data of cloud-init.',
    USER_DATA: 'user-data of cloud-init.',
    VENDOR_DATA: 'vendor-data of cloud-init.',
    NETWORK_CONFIG: 'network-config of cloud-init.',
    PHONE_HOME: 'The report of cloud-init.',
  } satisfies Record<(typeof BOOT_FETCH_KINDS)[number], string>),
})
