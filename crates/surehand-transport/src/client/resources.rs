use surehand_mcp::{
    Done, Feature, ListResourceTemplates, ListResources, Listing, ReadResource, ReadResourceParams,
    ReadResourceResult, Resource, ResourceTemplate, Subscribe, Unsubscribe,
};

use super::{Client, ClientError, Wire};

impl Client {
    /// All resources. Empty where the server says that it has none.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn list_resources(&self) -> Result<Listing<Resource>, ClientError> {
        self.list::<ListResources>(self.server.has_resources).await
    }

    /// All families of resources. Empty where the server says that it has no resources.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn list_resource_templates(&self) -> Result<Listing<ResourceTemplate>, ClientError> {
        self.list::<ListResourceTemplates>(self.server.has_resources).await
    }

    /// Reads one resource.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, ClientError> {
        let params = ReadResourceParams { uri: uri.to_owned() };
        self.ask::<ReadResource>(&params, Some(uri)).await
    }

    /// Wants to be told, by [`ServerNotice::ResourceUpdated`](surehand_mcp::ServerNotice::ResourceUpdated), when this resource
    /// changes.
    ///
    /// # Errors
    ///
    /// [`ClientError::NotOffered`] where the server tells of no changes, [`ClientError::Protocol`] where it does not tell of this
    /// resource's.
    pub async fn subscribe(&self, uri: &str) -> Result<(), ClientError> {
        self.can_subscribe()?;
        if self.server.revision.has(Feature::Handshake) {
            let params = ReadResourceParams { uri: uri.to_owned() };
            if let Wire::Http(wire) = &self.wire {
                wire.listening().await;
            }
            let Done = self.ask::<Subscribe>(&params, None).await?;
            self.subscriptions.note(uri);
            return Ok(());
        }
        if matches!(self.wire, Wire::InProcess(_)) {
            return Ok(());
        }
        let after = self.request_timeout;
        match self.questions.within(after, self.subscriptions.add(uri)).await {
            Some(outcome) => outcome.map_err(|what| ClientError::Protocol { what }),
            None => {
                self.subscriptions.remove(uri);
                Err(ClientError::Timeout { after })
            }
        }
    }

    /// No longer wants to be told.
    ///
    /// # Errors
    ///
    /// As [`Client::subscribe`].
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), ClientError> {
        self.can_subscribe()?;
        if self.server.revision.has(Feature::Handshake) {
            let params = ReadResourceParams { uri: uri.to_owned() };
            self.subscriptions.remove(uri);
            return self.ask::<Unsubscribe>(&params, None).await.map(|Done| ());
        }
        self.subscriptions.remove(uri);
        Ok(())
    }

    fn can_subscribe(&self) -> Result<(), ClientError> {
        if self.server().offers(&["resources", "subscribe"]) {
            return Ok(());
        }
        Err(ClientError::NotOffered { what: "to tell of changes of resources" })
    }
}
