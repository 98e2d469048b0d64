import { builder } from '../../builder.ts'
import { same, upper } from '../shared/enum-values.ts'

export const DiscoveryStatus = builder.enumType('DiscoveryStatus', {
  description: 'State of a discovery.',
  values: same({
    PENDING: 'Waiting for a worker.',
    RUNNING: 'The probe is running on the node.',
    SUCCEEDED: 'The result is stored.',
    FAILED: 'Failed; see the error.',
  }),
})

export const DiscoveryReason = builder.enumType('DiscoveryReason', {
  description: 'Trigger of a discovery.',
  values: upper({
    onboarding: 'The node became ready for the first time.',
    refresh: 'A user requested it.',
    sweep: 'The periodic discovery of all nodes.',
    run: 'A run of the template `collect_facts`.',
    schedule: 'A schedule.',
  }),
})

export const ToolState = builder.enumType('ToolState', {
  description: 'Result of a vendor tool.',
  values: same({
    ABSENT: 'Not installed.',
    OK: 'Succeeded.',
    FAILED: 'Failed, for example because it does not match the driver.',
    FOREIGN: 'The program of this name belongs to another vendor.',
    TIMED_OUT: 'Timed out.',
  }),
})

export const VendorTool = builder.enumType('VendorTool', {
  description: 'Tool of an accelerator vendor.',
  values: {
    NVIDIA_SMI: { value: 'nvidia-smi', description: 'nvidia-smi, for NVIDIA.' },
    AMD_SMI: { value: 'amd-smi', description: 'amd-smi, for AMD.' },
    ROCM_SMI: { value: 'rocm-smi', description: 'rocm-smi, for AMD with older ROCm.' },
    XPU_SMI: { value: 'xpu-smi', description: 'xpu-smi, for Intel.' },
    NPU_SMI: { value: 'npu-smi', description: 'npu-smi, for Huawei.' },
    PPU_SMI: { value: 'ppu-smi', description: 'ppu-smi, for T-Head.' },
  } as const,
})

export const DiscoveryChangeKind = builder.enumType('DiscoveryChangeKind', {
  description: 'Kind of a difference between two discoveries.',
  values: upper({
    added: 'Only in the later discovery.',
    removed: 'Only in the earlier discovery.',
    changed: 'The value differs.',
  }),
})
