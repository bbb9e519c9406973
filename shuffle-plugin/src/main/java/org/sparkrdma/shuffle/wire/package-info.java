// SPDX-License-Identifier: Apache-2.0
/**
 * The messages between executors, one flyweight each, its layout drawn in its Javadoc: the proof in
 * the connection request ({@link org.sparkrdma.shuffle.wire.Hello}) and after it ({@link
 * org.sparkrdma.shuffle.wire.Confirm}), LOCATE, LOCATED, RELEASE and RELEASED.
 *
 * <p>All fields are little-endian. Decoding checks every length and range before use and throws
 * {@link org.sparkrdma.shuffle.wire.MalformedMessageException}.
 */
package org.sparkrdma.shuffle.wire;
