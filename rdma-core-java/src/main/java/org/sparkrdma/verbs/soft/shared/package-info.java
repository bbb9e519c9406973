// SPDX-License-Identifier: Apache-2.0
/**
 * The state of a loopback device that other processes see: its directory in shared memory,
 * accessible to its user only and removed with the process or by the next one; the table of its
 * regions and queue pairs; links to the map-output files that are registered; mappings of memory.
 *
 * <p>The peer runs the same classes on the other side, and may be another version, or hostile:
 * owners, modes, sizes and magic numbers are checked before anything is used.
 */
package org.sparkrdma.verbs.soft.shared;
