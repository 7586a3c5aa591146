package org.gramian.serve;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.component.LifeCycle;

/**
 * Closes connections that hold a place without a request, so that a client with many slow connections cannot lock out others.
 *
 * <ul>
 *   <li>A request's header must be complete within a time limit, however its bytes are spread; Jetty limits pauses only.
 *   <li>A client address has a bounded number of connections. Addresses of IPv6 count by their first 64 bits, which one client
 *       usually controls.
 * </ul>
 */
final class ConnectionGuard implements Connection.Listener, AutoCloseable {
    private static final int CHECKS_PER_LIMIT = 8;
    private static final int NETWORK_BYTES = 8;

    private final Limits.Connections limits;
    private final Map<Connection, Waiting> open = new HashMap<>();
    private final Map<InetAddress, Integer> counts = new HashMap<>();
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("gramian-connections").daemon().factory());

    /** An open connection. */
    private static final class Waiting {
        private final InetAddress client;
        private long since = System.nanoTime();
        private boolean inRequest;

        Waiting(InetAddress client) {
            this.client = client;
        }
    }

    ConnectionGuard(Limits.Connections limits) {
        this.limits = limits;
        long period = Math.max(1, limits.header().toMillis() / CHECKS_PER_LIMIT);
        var _ = clock.scheduleAtFixedRate(this::closeSlow, period, period, TimeUnit.MILLISECONDS);
    }

    /** Adds the guard to a server that is not started yet, around a handler. */
    void install(Server server, Handler inner) {
        server.addEventListener(new LifeCycle.Listener() {
            @Override
            public void lifeCycleStarting(LifeCycle starting) {
                for (Connector connector : server.getConnectors()) {
                    connector.addBean(ConnectionGuard.this, false);
                }
            }
        });
        server.setHandler(new Handler.Wrapper(inner) {
            @Override
            public boolean handle(Request request, Response response, Callback callback) throws Exception {
                Connection connection = request.getConnectionMetaData().getConnection();
                requestBegins(connection);
                Request.addCompletionListener(request, _ -> requestEnds(connection));
                return super.handle(request, response, callback);
            }
        });
    }

    @Override
    public void onOpened(Connection connection) {
        if (connection.getEndPoint().getRemoteSocketAddress() instanceof InetSocketAddress address) {
            InetAddress client = network(address.getAddress());
            boolean accepted;
            synchronized (this) {
                int count = counts.getOrDefault(client, 0);
                accepted = count < limits.perClient();
                if (accepted) {
                    counts.put(client, count + 1);
                    open.put(connection, new Waiting(client));
                }
            }
            if (!accepted) {
                connection.getEndPoint().close();
            }
        }
    }

    @Override
    public synchronized void onClosed(Connection connection) {
        Waiting closed = open.remove(connection);
        if (closed != null) {
            counts.computeIfPresent(closed.client, (_, count) -> count > 1 ? count - 1 : null);
        }
    }

    private synchronized void requestBegins(Connection connection) {
        Waiting waiting = open.get(connection);
        if (waiting != null) {
            waiting.inRequest = true;
        }
    }

    private synchronized void requestEnds(Connection connection) {
        Waiting waiting = open.get(connection);
        if (waiting != null) {
            waiting.inRequest = false;
            waiting.since = System.nanoTime();
        }
    }

    private void closeSlow() {
        // Outside of the lock: closing calls onClosed.
        slow().forEach(connection -> connection.getEndPoint().close());
    }

    private synchronized List<Connection> slow() {
        long now = System.nanoTime();
        return open.entrySet().stream()
                .filter(entry -> !entry.getValue().inRequest
                        && now - entry.getValue().since > limits.header().toNanos())
                .map(Map.Entry::getKey)
                .toList();
    }

    private static InetAddress network(InetAddress address) {
        if (!(address instanceof Inet6Address)) {
            return address;
        }
        byte[] bytes = address.getAddress();
        Arrays.fill(bytes, NETWORK_BYTES, bytes.length, (byte) 0);
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address of IPv6 has 16 bytes", e);
        }
    }

    @Override
    public void close() {
        clock.shutdownNow();
    }
}
