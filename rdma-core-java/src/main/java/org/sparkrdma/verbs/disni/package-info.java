// SPDX-License-Identifier: Apache-2.0
/**
 * The engine over DiSNI, for Java 17 to 21 where the user has installed libdisni and brings DiSNI's
 * jar: a thin adapter, because DiSNI has fewer verbs than the API. Each feature that DiSNI lacks is
 * a missing {@link org.sparkrdma.verbs.device.Capability}: no private data in either direction, no
 * immediate data, no refusal with a reason, no number of the initiator's queue pair in a request,
 * no acknowledge time-out, no depth of READs (DiSNI takes the device's limit), no access per queue
 * pair, no IPv6. Limits of a device cannot be asked for; they are what common cards bear.
 *
 * <p>Entry class is {@link org.sparkrdma.verbs.disni.DisniProvider}, the only public one and the
 * only one that may be loaded without DiSNI's classes. DiSNI waits for the kernel in calls that
 * nothing can interrupt, so each connection manager and each completion queue with a channel has a
 * thread that waits in short turns.
 */
package org.sparkrdma.verbs.disni;
