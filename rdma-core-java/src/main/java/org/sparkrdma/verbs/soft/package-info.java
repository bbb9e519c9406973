// SPDX-License-Identifier: Apache-2.0
/**
 * A loopback RDMA device in pure Java: processes of one user on one host are its peers.
 *
 * <p>Entry class is {@link org.sparkrdma.verbs.soft.SoftProvider}, the only public one. Memory lies
 * in files that peers open ({@code soft.shared}); an RDMA READ is a positioned read of the owner's
 * file by the <em>requester</em>, so that no code of the owner runs. Which keys are good stands in
 * a table that owner and peers map ({@code SharedTable}). Connections are set up over local TCP
 * sockets, and end with them. The threads that post and poll do the work of the device ({@code
 * DeviceLoop}); a thread of its own does it only while nobody polls.
 */
package org.sparkrdma.verbs.soft;
