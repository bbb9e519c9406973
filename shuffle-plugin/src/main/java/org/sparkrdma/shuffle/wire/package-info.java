// SPDX-License-Identifier: Apache-2.0
/**
 * The messages between executors, with their layouts: those of the set-up ({@code SetupMessages}),
 * LOCATE and LOCATED, and the release of leases. {@link org.sparkrdma.shuffle.wire.Messages} has
 * their types.
 *
 * <p>All fields are little-endian. Decoding checks every length and range before use and throws
 * {@link org.sparkrdma.shuffle.wire.MalformedMessageException}.
 */
package org.sparkrdma.shuffle.wire;
