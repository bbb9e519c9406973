/**
 * What a loopback device shows to other processes: its directory in shared memory, open to its user
 * alone and removed with the process or by the next one; the table of its regions and queue pairs;
 * links to the map-output files that are registered; mappings of memory.
 *
 * <p>The other half of each class stands in the peer, which may be another version, or hostile:
 * owners, modes, sizes and magic numbers are checked before anything is used.
 */
package org.sparkrdma.verbs.soft.shared;
