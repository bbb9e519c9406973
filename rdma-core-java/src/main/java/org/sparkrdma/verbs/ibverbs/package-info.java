// SPDX-License-Identifier: Apache-2.0
/**
 * The engine on the system's libibverbs and librdmacm. They are called through jffi: Java 17 has no
 * java.lang.foreign, and one binding for all versions is half of the code.
 *
 * <p>Entry class is {@link org.sparkrdma.verbs.ibverbs.IbverbsProvider}, the only public one. The
 * card and the kernel do the work, and the polling thread the rest: the engine's own threads,
 * {@code CmThreads}, only wait for calls of librdmacm that block.
 */
package org.sparkrdma.verbs.ibverbs;
