import { builder } from '../../../builder.ts'
import { upper } from '../../shared/enum-values.ts'

export const DeviceType = builder.enumType('DeviceType', {
  description: 'Type of an accelerator.',
  values: upper({
    nvidia_gpu: 'NVIDIA GPU.',
    amd_gpu: 'AMD Instinct or Radeon GPU.',
    intel_gpu: 'Intel data center GPU.',
    huawei_npu: 'Huawei Ascend NPU.',
    thead_npu: 'T-Head PPU.',
    other: 'Accelerator of another type.',
  }),
})

export const AcceleratorHealth = builder.enumType('AcceleratorHealth', {
  description: 'Health of an accelerator, best to worst.',
  values: upper({
    ok: 'The vendor tool reports no problem.',
    unknown: 'No tool reports the health.',
    warning: 'It works but needs attention.',
    critical: 'It must not be used.',
    lost: 'The device is present but does not respond.',
  }),
})

export const AcceleratorSource = builder.enumType('AcceleratorSource', {
  description: 'Source of the data about an accelerator.',
  values: upper({ tool: 'The vendor tool.', pci: 'The PCI bus only; no vendor tool reported the device.' }),
})

export const IdentificationConfidence = builder.enumType('IdentificationConfidence', {
  description: 'Confidence in the identification of an accelerator.',
  values: upper({ high: 'A vendor tool identified the device.', low: 'Only PCI IDs identify the device.' }),
})

export const PartitionKind = builder.enumType('PartitionKind', {
  description: 'Partitioning technology of an accelerator.',
  values: upper({ mig: 'NVIDIA or T-Head Multi-Instance GPU.', xcp: 'AMD compute partition.', vnpu: 'Huawei virtual NPU.' }),
})
