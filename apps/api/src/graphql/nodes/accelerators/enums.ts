import { builder } from '../../../builder.ts'
import { upper } from '../../shared/enum-values.ts'

export const DeviceType = builder.enumType('DeviceType', {
  description: 'Kinds of accelerators.',
  values: upper({
    nvidia_gpu: 'NVIDIA GPU.',
    amd_gpu: 'AMD Instinct or Radeon GPU.',
    intel_gpu: 'Intel data centre GPU.',
    huawei_npu: 'Huawei Ascend NPU.',
    thead_npu: 'T-Head PPU.',
    other: 'An accelerator of another kind.',
  }),
})

export const AcceleratorHealth = builder.enumType('AcceleratorHealth', {
  description: 'Health of an accelerator, best to worst.',
  values: upper({
    ok: 'Its tool reports no trouble.',
    unknown: 'Nothing is reported about its health.',
    warning: 'It works, but something needs attention.',
    critical: 'It must not be used.',
    lost: 'The machine has it, but it no longer answers.',
  }),
})

export const AcceleratorSource = builder.enumType('AcceleratorSource', {
  description: 'Where the knowledge of an accelerator comes from.',
  values: upper({ tool: "The vendor's tool reported it.", pci: 'Only the PCI bus shows it; no tool reported it.' }),
})
