// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

/**
 * Attributes of a region that peers need in addition to its key.
 *
 * @param address its first address, in the address space of its owner
 * @param fileOffset offset of that address in the file
 * @param fileId of the file that peers open, see {@link SharedDirectory#file}
 * @param domainId of the owner's protection domain
 * @param access as the kernel's flags
 */
public record RegionEntry(
    long address, long lengthBytes, long fileOffset, long fileId, int domainId, int access) {}
